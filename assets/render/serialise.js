// The page as it stands, as HTML. Runs in an isolated world: what the page has made of its prototypes is not seen here.
// Open shadow roots are put in place of their hosts' children, slots are filled, frames of the same origin become part of
// the page. Iterative, because a page may nest deeper than a stack; with bounds, because it may be of any size.
(() => {
  const CHARACTERS_MAX = 4_500_000, NODES_MAX = 400_000, FRAMES_MAX = 16, TIME_MAX = 1500, ATTRIBUTE_MAX = 8192;
  const VOID = new Set("area,base,br,col,embed,hr,img,input,link,meta,source,track,wbr".split(","));
  const DROP = new Set("script,style,noscript,template,object,path,defs,symbol".split(","));
  // Consent dialogs of well-known managers: they lie over the page and are none of its content.
  const CONSENT = [
    "#onetrust-consent-sdk", "#onetrust-banner-sdk", "#CybotCookiebotDialog", "#CybotCookiebotDialogBodyUnderlay",
    "#didomi-host", "#qc-cmp2-container", ".qc-cmp2-container", "#usercentrics-root", "#usercentrics-cmp-ui",
    "[id^='sp_message_container']", ".fc-consent-root", "#truste-consent-track", ".truste_overlay", ".truste_box_overlay",
    "#cookiescript_injected", "#cmpbox", "#cmpbox2", "#cmpwrapper", ".cky-consent-container", ".cky-overlay",
    "#iubenda-cs-banner", "#axeptio_overlay", ".osano-cm-window", "#klaro", "#tarteaucitronRoot",
    "#hs-eu-cookie-confirmation", ".cc-window.cc-banner", "#ketch-consent-banner", "#termly-code-snippet-support",
    "#cookie-law-info-bar", "#cookie-notice", "#moove_gdpr_cookie_info_bar", "#BorlabsCookieBox", "#cmplz-cookiebanner-container",
  ].join(",");
  // For the page's picture, which is taken in this world too.
  globalThis.consentDialogs = CONSENT;
  const out = [], began = performance.now();
  let size = 0, nodes = 0, frames = 0, consents = 0, cut = false;
  const put = (text) => {
    size += text.length;
    if (size > CHARACTERS_MAX) { cut = true; return; }
    out.push(text);
  };
  const text = (s) => s.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"));
  const attribute = (s) => s.replace(/[&"<]/g, (c) => (c === "&" ? "&amp;" : c === '"' ? "&quot;" : "&lt;"));
  const children = (node) => {
    if (node.localName === "slot" && node.getRootNode() instanceof ShadowRoot) {
      const assigned = node.assignedNodes();
      return assigned.length ? assigned : node.childNodes;
    }
    return node.shadowRoot ? node.shadowRoot.childNodes : node.childNodes;
  };
  const start = (node, name) => {
    let tag = "<" + name;
    if (node.namespaceURI === "http://www.w3.org/2000/svg") return tag + ">";
    for (const { name, value } of node.attributes) {
      if (!name.startsWith("on") && value.length <= ATTRIBUTE_MAX && /^[^\s"'<>/=]+$/.test(name)) {
        tag += " " + name + '="' + attribute(value) + '"';
      }
    }
    return tag + ">";
  };
  const stack = [{ node: document.documentElement, at: -1, list: null, end: "", as: "" }];
  while (stack.length && !cut) {
    const top = stack[stack.length - 1];
    if (top.at >= 0) {
      if (top.at < top.list.length) stack.push({ node: top.list[top.at++], at: -1, list: null, end: "", as: "" });
      else { put(top.end); stack.pop(); }
      continue;
    }
    nodes++;
    if (nodes > NODES_MAX || (nodes % 2048 === 0 && performance.now() - began > TIME_MAX)) { cut = true; break; }
    const node = top.node;
    if (node.nodeType === 3) { put(text(node.data)); stack.pop(); continue; }
    if (node.nodeType !== 1) { stack.pop(); continue; }
    const name = node.localName;
    if (DROP.has(name)) {
      if (name === "script" && node.type === "application/ld+json") {
        put('<script type="application/ld+json">' + node.textContent.replace(/<\//g, "<\\/") + "</" + "script>");
      }
      stack.pop();
      continue;
    }
    if (node.matches(CONSENT)) { consents++; stack.pop(); continue; }
    if (name === "iframe" || name === "frame") {
      let inner = null;
      try { inner = node.contentDocument; } catch { /* of another origin */ }
      stack.pop();
      if (inner && inner.body && frames < FRAMES_MAX) {
        frames++;
        stack.push({ node: inner.body, at: -1, list: null, end: "", as: "div" });
      }
      continue;
    }
    const as = top.as || (/^[a-z][a-z0-9-]*$/.test(name) ? name : "span");
    // The children of a canvas are its text for readers without one.
    const written = as === "canvas" || as === "slot" ? "div" : as;
    put(top.as ? "<div>" : start(node, written));
    if (VOID.has(name)) { stack.pop(); continue; }
    if (name === "textarea") { put(text(node.value) + "</textarea>"); stack.pop(); continue; }
    top.end = "</" + written + ">";
    top.list = children(node);
    top.at = 0;
  }
  while (stack.length) out.push(stack.pop().end);
  return JSON.stringify({ html: "<!doctype html>" + out.join(""), cut, consents, href: location.href });
})()
