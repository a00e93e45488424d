// How many characters of text the page has, by which it is seen to be finished. Runs often: only where there seems to be
// little, it is counted as readers see it, with shadow roots and frames.
(() => {
  const FEW = 2000, ELEMENTS_MAX = 20000;
  const body = document.body;
  if (!body) return 0;
  let count = body.textContent.length;
  for (const element of body.querySelectorAll("script, style")) count -= element.textContent.length;
  if (count >= FEW) return count;
  count = 0;
  const roots = [body];
  for (let at = 0, seen = 0; at < roots.length; at += 1) {
    const root = roots[at];
    for (const part of root.innerText === undefined ? root.children : [root]) count += part.innerText?.length ?? 0;
    for (const element of root.querySelectorAll("*")) {
      if ((seen += 1) > ELEMENTS_MAX) return count;
      const inner = element.shadowRoot ?? (element.localName === "iframe" ? element.contentDocument?.body : null);
      if (inner) roots.push(inner);
    }
  }
  return count;
})()
