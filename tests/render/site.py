"""Pages for tests/render/run: sites behind names that lead to one loopback port, canaries that note whoever reaches them,
and a page that tries every way out of a browser that is known to us."""

import json
import os
import socket
import struct
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

FOLDER = os.path.dirname(os.path.abspath(__file__))
PORT = 4811
CANARY_TCP = [80, 443, 3478, 4890, 4891, 853]
CANARY_UDP = [53, 443, 3478, 4890, 5353, 1900]
SENTENCE = "The ferry to the island leaves at nine in the morning and returns at six in the evening. "


def filler(word, count=60):
    return f"{word} {SENTENCE}" * (count // 6)


PAGES = {
    "/app": '<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript><script src=/app.js></script>',
    "/late": '<div id=r></div><script>setTimeout(()=>fetch("/api/articles.json").then(x=>x.json()).then(l=>r.innerHTML=l.map(a=>"<h2>"+a.title+"</h2><p>"+a.text+"</p>").join("")),1500)</script>',
    "/shadow": '<x-card></x-card><script>customElements.define("x-card",class extends HTMLElement{connectedCallback(){const s=this.attachShadow({mode:"closed"});s.innerHTML="<h1>Closed shadow</h1><p>"+"%s".repeat(9)+"</p>"}})</script>' % SENTENCE,
    "/frames": '<h1>Frames</h1><iframe src=/frame></iframe><iframe srcdoc="<p>srcdoc text here</p>"></iframe>',
    "/frame": "<p>%s</p>" % filler("inner frame"),
    "/canvas": '<h1>Canvas</h1><canvas>text for readers without a canvas</canvas><p id=r></p><script>r.textContent="%s".repeat(9)</script>' % SENTENCE,
    "/consent": '<div id=onetrust-consent-sdk><p>We and our 1,234 partners value your privacy</p><button>Accept</button></div><main id=r></main><script>r.innerHTML="<h1>Article</h1><p>"+"%s".repeat(9)+"</p>"</script>' % SENTENCE,
    "/dialogs": '<h1>Dialogs</h1><div id=r></div><script>alert(1);confirm(2);prompt(3);onbeforeunload=()=>"x";r.innerHTML="<p>"+"after the dialogs. ".repeat(60)+"</p>";setInterval(()=>alert("again"),50)</script>',
    "/loop": '<h1>Loop</h1><div id=r></div><script>r.textContent="text before the loop. ".repeat(60);setTimeout(()=>{for(;;){}},200)</script>',
    "/poll": '<h1>Poll</h1><div id=r></div><script>r.textContent="poll page text. ".repeat(60);setInterval(()=>fetch("/api/tick?"+Math.random()),80);new EventSource("/api/sse");fetch("/api/hang")</script>',
    "/flood": '<h1>Flood</h1><div id=r></div><script>r.textContent="flood text. ".repeat(60);for(let i=0;i<2000;i++)fetch("/api/tick?"+i)</script>',
    "/memory": '<h1>Hog</h1><div id=r></div><script>r.textContent="hog text. ".repeat(60);const k=[];(function f(){for(let i=0;i<2e6;i++)k.push({a:i,b:""+i});setTimeout(f,1)})()</script>',
    "/deep": '<h1>Deep</h1><div id=r></div><script>let e=r;for(let i=0;i<20000;i++){const d=document.createElement("div");e.appendChild(d);e=d}e.textContent="deepest text"</script>',
    "/huge": '<h1>Huge</h1><div id=r></div><script>let s="";for(let i=0;i<200000;i++)s+="<p>paragraph number "+i+"</p>";r.innerHTML=s</script>',
    "/bigscript": '<h1>Big script</h1><div id=r></div><script>r.textContent="big script text. ".repeat(60)</script><script src=/api/big.js></script>',
    "/override": '<h1>Override</h1><div id=r></div><script>r.textContent="override text. ".repeat(60);Element.prototype.getAttribute=()=>"HACKED";JSON.stringify=()=>"HACKED";Object.defineProperty(document,"documentElement",{get(){return null}});Array.prototype.push=function(){throw 1}</script>',
    "/download": '<h1>Download</h1><div id=r></div><script>r.textContent="download text. ".repeat(60);location.href="/api/file.bin"</script>',
    "/popups": '<h1>Popups</h1><div id=r></div><script>r.textContent="popup text. ".repeat(60);for(let i=0;i<20;i++){const a=document.createElement("a");a.href="/app?"+i;a.target="_blank";a.click();open("/app")}</script>',
    "/worker": '<h1>Service worker</h1><div id=r></div><script>r.textContent="worker text. ".repeat(60);navigator.serviceWorker&&navigator.serviceWorker.register("/sw.js")</script>',
    # Ways in which pages of all kinds come by their text.
    "/lazy": '<h1>Lazy</h1><div id=r></div><script>for(let i=0;i<6;i++){const s=document.createElement("section");s.style.minHeight="700px";r.append(s);new IntersectionObserver((e,o)=>{if(e[0].isIntersecting){o.disconnect();s.innerHTML="<h2>Section "+i+"</h2><p>Part "+i+": %s</p>"}}).observe(s)}</script>' % (SENTENCE * 2),
    "/endless": '<h1>Endless</h1><div id=r></div><p id=end>more</p><script>let n=0;new IntersectionObserver(e=>{if(e[0].isIntersecting&&n<500)for(let i=0;i<3;i++)r.insertAdjacentHTML("beforeend","<p>Item "+(n++)+". %s</p>")}).observe(end)</script>' % SENTENCE,
    "/storage": '<h1>Storage</h1><div id=r></div><script>localStorage.setItem("a","1");sessionStorage.setItem("b","2");document.cookie="c=3";indexedDB.open("x",1).onsuccess=()=>{r.textContent="storage text "+localStorage.a+sessionStorage.b+document.cookie+" %s".repeat(9)}</script>' % SENTENCE,
    "/thread": '<h1>Thread</h1><div id=r></div><script>const w=new Worker(URL.createObjectURL(new Blob(["postMessage(\'thread text \'.repeat(80))"])));w.onmessage=e=>r.textContent=e.data</script>',
    "/module": '<h1>Module</h1><div id=r></div><script type=module>const m=await import("/mod.mjs");r.textContent=m.text</script>',
    "/jsonp": '<h1>JSONP</h1><div id=r></div><script>function got(t){r.textContent=t.repeat(60)}</script><script src="/jsonp.js?callback=got" async></script>',
    "/written": '<h1>Written</h1><script>document.write("<p>"+"written text. ".repeat(60)+"</p>")</script>',
    "/refresh": '<meta http-equiv=refresh content="0;url=/app?refreshed"><p>One moment.</p>',
    "/replaced": '<p>One moment.</p><script>setTimeout(()=>location.replace("/app?replaced"),300)</script>',
    "/hash": '<div id=r></div><script>onhashchange=()=>{r.innerHTML="<h1>"+location.hash+"</h1><p>"+"hash text. ".repeat(60)+"</p>"};location.hash="#/guide"</script>',
    "/pushed": '<div id=r></div><script>history.pushState({},"","/pushed/guide");r.innerHTML="<h1>Pushed</h1><p>"+"pushed text. ".repeat(60)+"</p>"</script>',
    "/idle": '<h1>Idle</h1><div id=r></div><script>requestIdleCallback(()=>requestAnimationFrame(()=>requestAnimationFrame(()=>{r.textContent="idle text. ".repeat(60)})))</script>',
    "/events": '<h1>Events</h1><div id=r></div><script>new EventSource("/api/text").onmessage=e=>r.insertAdjacentHTML("beforeend","<p>"+e.data+"</p>")</script>',
    "/streamed": '<h1>Streamed</h1><div id=r></div><script>fetch("/api/stream").then(async x=>{const d=x.body.getReader();for(;;){const{done,value}=await d.read();if(done)break;r.textContent+=new TextDecoder().decode(value)}})</script>',
    # Data in the document is no text: what scripts make of it after a while is waited for.
    "/hydrated": '<h1>Hydrated</h1><div id=r></div><script type="application/json" id=d>["%s"]</script><script>setTimeout(()=>{r.textContent="hydrated text. ".repeat(60)},1500)</script>' % ("data " * 4000),
    "/slow": '<h1>Slow</h1><div id=r>Loading...</div><script>fetch("/api/slow.json").then(x=>x.json()).then(t=>r.textContent=t.text)</script>',
    "/slots": '<x-page><h2 slot=title>Slot title</h2><p>%s</p></x-page><script>customElements.define("x-page",class extends HTMLElement{connectedCallback(){this.attachShadow({mode:"closed"}).innerHTML="<main><slot name=title></slot><slot></slot><p>"+"shadow part. ".repeat(40)+"</p></main>"}})</script>' % (SENTENCE * 3),
    "/nested": '<x-outer></x-outer><script>for(const[n,h]of[["x-inner","<p>"+"nested text. ".repeat(60)+"</p>"],["x-outer","<h1>Nested</h1><x-inner></x-inner>"]])customElements.define(n,class extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"}).innerHTML=h}})</script>',
    "/declared": '<div id=r></div><script>r.setHTMLUnsafe("<section><template shadowrootmode=open><h1>Declared</h1><p>"+"declared text. ".repeat(60)+"</p></template></section>")</script>',
    "/srcdoc": '<div id=r></div><script>const f=document.createElement("iframe");f.srcdoc="<h1>Frame</h1><p>"+"srcdoc text. ".repeat(60)+"</p>";r.append(f)</script>',
    "/visible": '<h1>Visible</h1><div id=r></div><script>if(document.visibilityState==="visible"&&innerWidth>300)r.textContent="visible text. ".repeat(60)</script>',
    "/observed": '<h1>Observed</h1><div id=r></div><script>new ResizeObserver(()=>{r.textContent="observed text. ".repeat(60)}).observe(r);new MutationObserver(()=>{}).observe(r,{childList:true});r.style.width="500px"</script>',
    "/guarded": '<h1>Feature checks</h1><div id=r></div><script>try{new WebSocket("ws://app.example.org/ws")}catch(e){}try{navigator.serviceWorker.register("/sw.js")}catch(e){}try{new RTCPeerConnection()}catch(e){}r.textContent="guarded text. ".repeat(60)</script>',
    "/banner": '<div role=dialog aria-modal=true class=cookie-consent style="position:fixed;inset:0;background:#fff"><p>We use cookies</p><button>Accept all</button></div><main id=r></main><script>document.body.style.overflow="hidden";r.innerHTML="<h1>Behind</h1><p>"+"banner page text. ".repeat(60)+"</p>"</script>',
    "/inputs": '<h1>Inputs</h1><div id=r></div><script>r.innerHTML="<p>"+"inputs text. ".repeat(60)+"</p><details><summary>More</summary><p>details text</p></details><select><option>One</option></select>"</script>',
    "/xhtml": '<h1>XHR</h1><div id=r></div><script>const x=new XMLHttpRequest();x.open("GET","/api/articles.json");x.onload=()=>r.innerHTML=JSON.parse(x.response).map(a=>"<h2>"+a.title+"</h2><p>"+a.text+"</p>").join("");x.send()</script>',
    "/away": '<script>location.href="http://127.0.0.1:4890/away"</script>',
    "/redirects": "",
    "/photos": '<h1>Photos</h1><p>%s</p><img src=/photo.png><p>The ferry leaves at nine in the morning.</p><p>%s</p>' % (filler("before", 60), filler("behind", 60)),
    # A script writes another end of the sentence that is cited.
    "/changed": '<h1>Changed</h1><p>%s</p><p id=r>The ferry leaves at nine in the morning from the old north quay and returns at six in the evening.</p><p>%s</p><script>r.textContent="The ferry leaves at nine in the morning from the old north quay, weather permitting."</script>' % ("Boats come and go all day long, and nobody counts them. " * 12, "Gulls sit on every roof of the town and sleep there. " * 12),
    "/static": "<h1>Static</h1><p>%s</p>" % filler("plain", 120),
}
APP = 'root.innerHTML="<h1>The app</h1>"+Array.from({length:12},(x,i)=>"<p>Paragraph "+i+". %s</p>").join("")' % SENTENCE
ARTICLES = [{"title": f"Article {n}", "text": SENTENCE * 4} for n in range(8)]


def photo(width, height):
    """A PNG of noise, which nothing makes smaller."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    lines = b"".join(b"\0" + os.urandom(width * 3) for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b"")


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def give(self, body, kind="text/html; charset=utf-8", status=200, extra=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0]
        try:
            self.answer(path)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self, path):
        if path == "/api/tick":
            return self.give("{}", "application/json")
        if path == "/api/hang":
            time.sleep(40)
            return self.give("{}", "application/json")
        if path == "/api/sse":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for _ in range(400):
                self.wfile.write(b"data: x\n\n")
                self.wfile.flush()
                time.sleep(0.1)
            return None
        if path == "/api/big.js":
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Content-Length", str(200 << 20))
            self.end_headers()
            for _ in range(200):
                self.wfile.write(b"/" * (1 << 20))
            return None
        if path == "/api/file.bin":
            return self.give(b"x" * 100, "application/octet-stream", extra={"Content-Disposition": "attachment"})
        if path == "/api/slow.json":
            time.sleep(4)
            return self.give(json.dumps({"text": "slow text. " * 60}), "application/json")
        if path in ("/api/text", "/api/stream"):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if path == "/api/text" else "text/plain")
            self.send_header("Connection", "close")
            self.end_headers()
            for number in range(8):
                line = f"Part {number}. {SENTENCE * 2}"
                self.wfile.write((f"data: {line}\n\n" if path == "/api/text" else line).encode())
                self.wfile.flush()
                time.sleep(0.1)
            if path == "/api/text":
                time.sleep(20)
            self.close_connection = True
            return None
        if path == "/photo.png":
            return self.give(photo(900, 600), "image/png")
        if path == "/mod.mjs":
            return self.give(f"export const text={json.dumps('module text. ' * 60)}", "text/javascript")
        if path == "/jsonp.js":
            return self.give('got("jsonp text. ")', "text/javascript")
        if path == "/api/articles.json":
            return self.give(json.dumps(ARTICLES), "application/json")
        if path == "/app.js":
            return self.give(APP, "text/javascript")
        if path == "/sw.js":
            return self.give('fetch("http://127.0.0.1:4890/sw")', "text/javascript")
        if path == "/worker.js":
            return self.give('fetch("http://127.0.0.1:4890/worker");try{new WebSocket("ws://127.0.0.1:4890/ws")}catch(e){}', "text/javascript")
        if path == "/redir":
            to = parse_qs(urlparse(self.path).query).get("to", ["/static"])[0]
            return self.give("", status=302, extra={"Location": to})
        if path == "/redirects":
            return self.give("", status=302, extra={"Location": "/redirects?" + str(time.time())})
        if path == "/hostile":
            with open(os.path.join(FOLDER, "hostile.html")) as file:
                body = file.read()
            if self.path.endswith("?stays"):
                body = body.replace("A('dl',()=>dl.click());", "")
            return self.give(body, extra={"Link": "<http://127.0.0.1:4890/link>; rel=preload; as=fetch, <http://127.0.0.1:4890>; rel=preconnect"})
        for root in sys.argv[2:]:
            name = os.path.normpath(os.path.join(root, "." + path))
            if name.startswith(root) and os.path.isfile(name):
                kinds = {"js": "text/javascript", "mjs": "text/javascript", "css": "text/css", "html": "text/html; charset=utf-8"}
                with open(name, "rb") as file:
                    return self.give(file.read(), kinds.get(name.rsplit(".", 1)[-1], "application/octet-stream"))
        if path in PAGES:
            return self.give(f"<!doctype html><html><head><title>Page {path}</title></head><body>{PAGES[path]}</body></html>")
        return self.give("no", status=404)


def canaries(log):
    def tcp(family, host, port):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(256)
        while True:
            stream, peer = listener.accept()
            stream.settimeout(2)
            try:
                said = stream.recv(300)
                stream.sendall(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 6\r\nConnection: close\r\n\r\nCANARY")
            except OSError:
                said = b""
            stream.close()
            log.write(f"TCP {port} {said[:80]!r}\n")

    def udp(family, host, port):
        listener = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        while True:
            said, _ = listener.recvfrom(2000)
            log.write(f"UDP {port} {said[:40]!r}\n")

    for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        for port in CANARY_TCP:
            threading.Thread(target=tcp, args=(family, host, port), daemon=True).start()
        for port in CANARY_UDP:
            threading.Thread(target=udp, args=(family, host, port), daemon=True).start()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


canaries(open(sys.argv[1], "a", buffering=1))
Server(("127.0.0.1", PORT), Site).serve_forever()
