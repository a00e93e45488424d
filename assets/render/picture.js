// Makes the page ready for its picture, in the isolated world in which it was read: consent dialogs are hidden, and a
// passage is looked for, brought into view and highlighted. Gives the part of the page that the picture is of, in CSS pixels,
// and whether it shows the whole passage.
((passage, width, height) => {
  const hide = (root) => {
    for (const dialog of root.querySelectorAll(globalThis.consentDialogs)) dialog.style.setProperty("display", "none", "important");
  };
  hide(document);
  // Dialogs often stop the page behind them from being scrolled.
  for (const element of [document.documentElement, document.body]) {
    if (element) element.style.setProperty("overflow", "visible", "important");
  }
  const words = (passage || "").split(/\s+/).filter(Boolean);
  const selection = getSelection();
  let box = null;
  let isWhole = false;
  // The page may spell a long passage with marks and lines between: its beginning shows where it may stand, and no more.
  for (const count of [words.length, 12, 6]) {
    if (words.length === 0 || count > words.length) continue;
    selection.removeAllRanges();
    if (!find(words.slice(0, count).join(" "), false, false, true, false, true, false) || selection.rangeCount === 0) continue;
    const range = selection.getRangeAt(0).cloneRange();
    range.startContainer.parentElement?.scrollIntoView({ block: "center", behavior: "instant" });
    const found = range.getBoundingClientRect();
    if (found.width === 0 || found.height === 0) continue;
    box = found;
    isWhole = count === words.length;
    if (!isWhole) {
      selection.removeAllRanges();
      break;
    }
    try {
      const style = new CSSStyleSheet();
      style.replaceSync("::highlight(context402) { background-color: #ffe066; color: #000; }");
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, style];
      CSS.highlights.set("context402", new Highlight(range));
      selection.removeAllRanges();
    } catch { /* the selection itself shows it */ }
    break;
  }
  if (!box) scrollTo({ top: 0, behavior: "instant" });
  const whole = Math.max(document.documentElement.scrollHeight, innerHeight);
  const tall = Math.min(height, whole);
  const middle = box ? box.top + scrollY + Math.min(box.height, height / 2) / 2 : 0;
  const top = Math.round(Math.max(0, Math.min(middle - tall / 2, whole - tall)));
  return JSON.stringify({ x: 0, y: top, width, height: tall, found: isWhole });
})
