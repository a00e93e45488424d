"""Pages whose text is made by real frameworks from npm. Each page is an empty shell for whoever runs no script."""

import json
import os
import shutil
import subprocess
import sys

from rig import texts

DATA = f"const TEXTS={json.dumps(texts())};"


def write(work, name, body):
    with open(f"{work}/{name}", "w") as file:
        file.write(body)


def page(work, name, body):
    write(work, f"{name}.html", f"<!doctype html><html><head><title>App</title></head><body>{body}</body></html>")


def run(work, *command):
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)[:100]} fails: {(done.stderr or done.stdout).strip()[-600:]}")


def tags(scripts, code):
    """A page with scripts of the packages, and code that makes the page."""
    def make(work, name):
        sources = "".join(f"<script src=/node_modules/{script}></script>" for script in scripts)
        page(work, name, f"<div id=root></div>{sources}<script>{DATA}{code}</script>")
    return make


def bundle(code):
    """A page with one module, which esbuild puts into one file with all that it imports."""
    def make(work, name):
        write(work, f"{name}.entry.mjs", f"{DATA}\n{code}\n")
        run(work, "node_modules/.bin/esbuild", f"{name}.entry.mjs", "--bundle", "--minify", "--conditions=browser",
            '--define:process.env.NODE_ENV="production"', f"--outfile={name}.bundle.js", "--log-level=error")
        page(work, name, f"<div id=root></div><script src=/{name}.bundle.js></script>")
    return make


def svelte(work, name):
    write(work, "App.svelte", "<script>let {texts} = $props();</script><main><h1>App</h1>{#each texts as text}<p>{text}</p>{/each}</main>")
    run(work, "node", "-e", "const {compile}=require('svelte/compiler');const fs=require('fs');"
        "fs.writeFileSync('App.svelte.js',compile(fs.readFileSync('App.svelte','utf8'),{generate:'client'}).js.code)")
    bundle("import {mount} from 'svelte';import App from './App.svelte.js';mount(App,{target:root,props:{texts:TEXTS}})")(work, name)


def htmx(work, name):
    write(work, "fragment.html", "<h1>App</h1>" + "".join(f"<p>{text}</p>" for text in texts()))
    tags(["htmx.org/dist/htmx.min.js"], "root.innerHTML='<main hx-get=/fragment.html hx-trigger=load></main>';htmx.process(root)")(work, name)


def docsify(work, name):
    write(work, "README.md", "# App\n\n" + "\n\n".join(texts()))
    page(work, name, "<div id=app>Please wait...</div><script>window.$docsify={basePath:'/'}</script>"
                     "<script src=/node_modules/docsify/lib/docsify.min.js></script>")


def vitepress(work, name):
    """A documentation site as it is built, with a part that is made in the browser only."""
    os.makedirs(f"{work}/docs")
    write(work, f"docs/{name}.md", f"<script setup>\n{DATA}\n</script>\n\n# App\n\n<ClientOnly><p v-for=\"text in TEXTS\">{{{{ text }}}}</p></ClientOnly>\n")
    run(work, "node_modules/.bin/vitepress", "build", "docs", "--outDir", f"{work}/built")
    shutil.copytree(f"{work}/built", work, dirs_exist_ok=True)


# Name: packages, and what makes its page.
FRAMEWORKS = {
    "react": (["react@18.3.1", "react-dom@18.3.1"], tags(["react/umd/react.production.min.js", "react-dom/umd/react-dom.production.min.js"],
        "const e=React.createElement;ReactDOM.createRoot(root).render(e('main',null,e('h1',null,'App'),TEXTS.map((t,i)=>e('p',{key:i},t))))")),
    "preact": (["preact@10.24.3"], tags(["preact/dist/preact.umd.js"],
        "const e=preact.h;preact.render(e('main',null,e('h1',null,'App'),TEXTS.map(t=>e('p',null,t))),root)")),
    "vue": (["vue@3.5.12"], tags(["vue/dist/vue.global.prod.js"],
        "Vue.createApp({render(){return Vue.h('main',[Vue.h('h1','App'),...TEXTS.map(t=>Vue.h('p',t))])}}).mount('#root')")),
    "mithril": (["mithril@2.2.8"], tags(["mithril/mithril.min.js"],
        "m.mount(root,{view:()=>m('main',m('h1','App'),TEXTS.map(t=>m('p',t)))})")),
    "lit-html": (["lit-html@3.2.1"], tags([],
        "import('/node_modules/lit-html/lit-html.js').then(({html,render})=>render(html`<main><h1>App</h1>${TEXTS.map(t=>html`<p>${t}</p>`)}</main>`,root))")),
    "knockout": (["knockout@3.5.1"], tags(["knockout/build/output/knockout-latest.js"],
        "root.innerHTML='<main><h1>App</h1><!-- ko foreach: $data --><p data-bind=\"text:$data\"></p><!-- /ko --></main>';ko.applyBindings(TEXTS,root)")),
    "jquery": (["jquery@3.7.1"], tags(["jquery/dist/jquery.min.js"],
        "$('#root').append($('<main>').append('<h1>App</h1>',TEXTS.map(t=>$('<p>').text(t))))")),
    "alpine": (["alpinejs@3.14.3"], tags([],
        "root.innerHTML='<main x-data=\"{texts:TEXTS}\"><h1>App</h1><template x-for=\"t in texts\"><p x-text=\"t\"></p></template></main>';"
        "window.TEXTS=TEXTS;document.head.append(Object.assign(document.createElement('script'),{src:'/node_modules/alpinejs/dist/cdn.min.js'}))")),
    "htmx": (["htmx.org@2.0.3"], htmx),
    "vue-router": (["vue@3.5.12", "vue-router@4.4.5"], tags(["vue/dist/vue.global.prod.js", "vue-router/dist/vue-router.global.prod.js"],
        "const page={render:()=>Vue.h('main',[Vue.h('h1','App'),...TEXTS.map(t=>Vue.h('p',t))])};"
        "const router=VueRouter.createRouter({history:VueRouter.createWebHashHistory(),routes:[{path:'/',redirect:'/guide'},{path:'/guide',component:page}]});"
        "Vue.createApp({render:()=>Vue.h(Vue.resolveComponent('router-view'))}).use(router).mount('#root')")),
    "svelte": (["svelte@5.1.9"], svelte),
    "solid": (["solid-js@1.9.3"], bundle(
        "import {render} from 'solid-js/web/dist/web.js';import h from 'solid-js/h/dist/h.js';render(()=>h('main',h('h1','App'),TEXTS.map(t=>h('p',t))),root)")),
    "angular": (["@angular/core@18.2.9", "@angular/common@18.2.9", "@angular/compiler@18.2.9", "@angular/platform-browser@18.2.9", "rxjs@7.8.1", "zone.js@0.14.10"], bundle(
        "import 'zone.js';import '@angular/compiler';import {Component} from '@angular/core';import {NgFor} from '@angular/common';"
        "import {bootstrapApplication} from '@angular/platform-browser';"
        "class App{constructor(){this.texts=TEXTS}}"
        "const made=Component({selector:'#root',standalone:true,imports:[NgFor],template:'<main><h1>App</h1><p *ngFor=\"let t of texts\">{{t}}</p></main>'})(App)||App;"
        "bootstrapApplication(made)")),
    "react-router": (["react@18.3.1", "react-dom@18.3.1", "react-router-dom@6.27.0"], bundle(
        "import React,{lazy,Suspense} from 'react';import {createRoot} from 'react-dom/client';import {HashRouter,Routes,Route,Navigate} from 'react-router-dom';"
        "const e=React.createElement;const Page=lazy(()=>new Promise(done=>setTimeout(()=>done({default:()=>e('main',null,e('h1',null,'App'),TEXTS.map((t,i)=>e('p',{key:i},t)))}),700)));"
        "createRoot(root).render(e(HashRouter,null,e(Suspense,{fallback:'Loading...'},e(Routes,null,e(Route,{path:'/',element:e(Navigate,{to:'/guide'})}),e(Route,{path:'/guide',element:e(Page)})))))")),
    # Elements with shadow roots, one within another.
    "lit": (["lit@3.2.1"], bundle(
        "import {LitElement,html} from 'lit';"
        "customElements.define('x-ticket',class extends LitElement{static properties={text:{}};render(){return html`<p>${this.text}</p>`}});"
        "customElements.define('x-app',class extends LitElement{render(){return html`<main><h1>App</h1>${TEXTS.map(t=>html`<x-ticket .text=${t}></x-ticket>`)}</main>`}});"
        "root.append(document.createElement('x-app'))")),
    "docsify": (["docsify@4.13.1"], docsify),
    "vitepress": (["vitepress@1.5.0", "vue@3.5.12"], vitepress),
}
TOOLS = ["esbuild@0.24.0"]


def framework_pages(work):
    """Writes the page of each framework under its name. Without npm there is nothing to test, which is a failure."""
    if not shutil.which("npm"):
        sys.exit("the pages of frameworks need npm; `--only` names the parts that do not")
    packages = {package for needed, _ in FRAMEWORKS.values() for package in needed} | set(TOOLS)
    run(work, "npm", "install", "--prefix", work, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *sorted(packages))
    for name, (_, make) in FRAMEWORKS.items():
        make(work, name)
