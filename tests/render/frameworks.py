"""Pages whose text is made by real frameworks from npm. Each page is an empty shell for whoever runs no script."""

import json
import os
import shutil
import subprocess

from rig import texts

# Name: packages, scripts of them, and what makes the page.
SCRIPTS = {
    "react": (["react@18.3.1", "react-dom@18.3.1"], ["react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js"],
              "const e=React.createElement;ReactDOM.createRoot(root).render(e('main',null,e('h1',null,'App'),TEXTS.map((t,i)=>e('p',{key:i},t))))"),
    "preact": (["preact@10.24.3"], ["preact/dist/preact.umd.js"],
               "const e=preact.h;preact.render(e('main',null,e('h1',null,'App'),TEXTS.map(t=>e('p',null,t))),root)"),
    "vue": (["vue@3.5.12"], ["vue/dist/vue.global.prod.js"],
            "Vue.createApp({render(){return Vue.h('main',[Vue.h('h1','App'),...TEXTS.map(t=>Vue.h('p',t))])}}).mount('#root')"),
    "mithril": (["mithril@2.2.8"], ["mithril/mithril.min.js"],
                "m.mount(root,{view:()=>m('main',m('h1','App'),TEXTS.map(t=>m('p',t)))})"),
    "lit": (["lit-html@3.2.1"], [],
            "import('/node_modules/lit-html/lit-html.js').then(({html,render})=>render(html`<main><h1>App</h1>${TEXTS.map(t=>html`<p>${t}</p>`)}</main>`,root))"),
    "knockout": (["knockout@3.5.1"], ["knockout/build/output/knockout-latest.js"],
                 "root.innerHTML='<main><h1>App</h1><!-- ko foreach: $data --><p data-bind=\"text:$data\"></p><!-- /ko --></main>';ko.applyBindings(TEXTS,root)"),
    "jquery": (["jquery@3.7.1"], ["jquery/dist/jquery.min.js"],
               "$('#root').append($('<main>').append('<h1>App</h1>',TEXTS.map(t=>$('<p>').text(t))))"),
    "alpine": (["alpinejs@3.14.3"], [],
               "root.innerHTML='<main x-data=\"{texts:TEXTS}\"><h1>App</h1><template x-for=\"t in texts\"><p x-text=\"t\"></p></template></main>';"
               "window.TEXTS=TEXTS;document.head.append(Object.assign(document.createElement('script'),{src:'/node_modules/alpinejs/dist/cdn.min.js'}))"),
    "htmx": (["htmx.org@2.0.3"], ["htmx.org/dist/htmx.min.js"],
             "root.innerHTML='<main hx-get=/fragment.html hx-trigger=load></main>';htmx.process(root)"),
    "vue-router": (["vue@3.5.12", "vue-router@4.4.5"], ["vue/dist/vue.global.prod.js", "vue-router/dist/vue-router.global.prod.js"],
                   "const page={render:()=>Vue.h('main',[Vue.h('h1','App'),...TEXTS.map(t=>Vue.h('p',t))])};"
                   "const router=VueRouter.createRouter({history:VueRouter.createWebHashHistory(),routes:[{path:'/',redirect:'/guide'},{path:'/guide',component:page}]});"
                   "Vue.createApp({render:()=>Vue.h(Vue.resolveComponent('router-view'))}).use(router).mount('#root')"),
}
# Name: packages, and a module that esbuild puts into one file.
BUNDLES = {
    "svelte": (["svelte@5.1.9"],
               "import {mount} from 'svelte';import App from './App.svelte.js';mount(App,{target:root,props:{texts:TEXTS}})"),
    "solid": (["solid-js@1.9.3"],
              "import {render} from 'solid-js/web/dist/web.js';import h from 'solid-js/h/dist/h.js';render(()=>h('main',h('h1','App'),TEXTS.map(t=>h('p',t))),root)"),
    "angular": (["@angular/core@18.2.9", "@angular/common@18.2.9", "@angular/compiler@18.2.9", "@angular/platform-browser@18.2.9", "rxjs@7.8.1", "zone.js@0.14.10"],
                "import 'zone.js';import '@angular/compiler';import {Component} from '@angular/core';import {NgFor} from '@angular/common';"
                "import {bootstrapApplication} from '@angular/platform-browser';"
                "class App{constructor(){this.texts=TEXTS}}"
                "const made=Component({selector:'#root',standalone:true,imports:[NgFor],template:'<main><h1>App</h1><p *ngFor=\"let t of texts\">{{t}}</p></main>'})(App)||App;"
                "bootstrapApplication(made)"),
    "react-router": (["react@18.3.1", "react-dom@18.3.1", "react-router-dom@6.27.0"],
                     "import React,{lazy,Suspense} from 'react';import {createRoot} from 'react-dom/client';import {HashRouter,Routes,Route,Navigate} from 'react-router-dom';"
                     "const e=React.createElement;const Page=lazy(()=>new Promise(done=>setTimeout(()=>done({default:()=>e('main',null,e('h1',null,'App'),TEXTS.map((t,i)=>e('p',{key:i},t)))}),700)));"
                     "createRoot(root).render(e(HashRouter,null,e(Suspense,{fallback:'Loading...'},e(Routes,null,e(Route,{path:'/',element:e(Navigate,{to:'/guide'})}),e(Route,{path:'/guide',element:e(Page)})))))"),
}
DOCSIFY = ["docsify@4.13.1"]
TOOLS = ["esbuild@0.24.0"]
COMPONENT = "<script>let {texts} = $props();</script><main><h1>App</h1>{#each texts as text}<p>{text}</p>{/each}</main>"
COMPILE = ("const {compile}=require('svelte/compiler');const fs=require('fs');"
           "fs.writeFileSync('App.svelte.js',compile(fs.readFileSync('App.svelte','utf8'),{generate:'client'}).js.code)")


def npm(work, packages):
    command = ["npm", "install", "--prefix", work, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def write(work, name, body):
    with open(f"{work}/{name}.html", "w") as file:
        file.write(f"<!doctype html><html><head><title>App</title></head><body>{body}</body></html>")


def framework_pages(work):
    """Writes the pages that npm can give, each under its name."""
    all_packages = {package for needed, *_ in [*SCRIPTS.values(), *BUNDLES.values()] for package in needed}
    if not shutil.which("npm") or not npm(work, sorted(all_packages | set(DOCSIFY) | set(TOOLS))):
        print("note npm gives no packages here: the pages of frameworks are left out")
        return
    data = f"const TEXTS={json.dumps(texts())};"
    for name, (_, scripts, code) in SCRIPTS.items():
        tags = "".join(f"<script src=/node_modules/{script}></script>" for script in scripts)
        write(work, name, f"<div id=root></div>{tags}<script>{data}{code}</script>")
    with open(f"{work}/fragment.html", "w") as file:
        file.write("<h1>App</h1>" + "".join(f"<p>{text}</p>" for text in texts()))
    with open(f"{work}/README.md", "w") as file:
        file.write("# App\n\n" + "\n\n".join(texts()))
    write(work, "docsify", "<div id=app>Please wait...</div><script>window.$docsify={basePath:'/'}</script>"
                           "<script src=/node_modules/docsify/lib/docsify.min.js></script>")
    with open(f"{work}/App.svelte", "w") as file:
        file.write(COMPONENT)
    subprocess.run(["node", "-e", COMPILE], cwd=work, check=True)
    for name, (_, code) in BUNDLES.items():
        # Imports first, then what they need.
        with open(f"{work}/{name}.entry.mjs", "w") as file:
            file.write(f"{data}\n{code}\n")
        bundle = ["node_modules/.bin/esbuild", f"{name}.entry.mjs", "--bundle", "--minify", "--conditions=browser", "--define:process.env.NODE_ENV=\"production\"",
                  f"--outfile={name}.bundle.js", "--log-level=error"]
        done = subprocess.run(bundle, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"FAIL {name} cannot be built: {done.stderr[:300]}")
        write(work, name, f"<div id=root></div><script src=/{name}.bundle.js></script>")


def names(work):
    return [name for name in [*SCRIPTS, *BUNDLES, "docsify"] if os.path.exists(f"{work}/{name}.html")]
