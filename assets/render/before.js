// Runs before the first script of each document. It takes away what a reader does not need and what would go around the
// proxy, as a second wall: the network namespace is the first. It also opens shadow roots, so that their text can be read.
(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocket", "SharedWorker"]) {
    try { delete globalThis[name]; } catch { /* not there */ }
  }
  try { delete Navigator.prototype.serviceWorker; } catch { /* not there */ }
  try { globalThis.open = () => null; } catch { /* fixed */ }
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) {
    return attach.call(this, { ...init, mode: "open" });
  };
})()
