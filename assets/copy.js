for (const figure of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  const show = (text) => { button.textContent = text; };
  button.type = "button";
  button.className = "copy";
  button.ariaLabel = "Copy: " + figure.querySelector("figcaption").textContent;
  show("Copy");
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(figure.querySelector("pre").textContent);
      show("Copied");
    } catch {
      getSelection().selectAllChildren(figure.querySelector("pre"));
      show("Selected");
    }
    setTimeout(show, 2000, "Copy");
  };
  figure.querySelector("figcaption").append(button);
}
{
  // The language that was chosen last, in every set of tabs that has it.
  const choose = (language) => {
    for (const label of document.querySelectorAll("fieldset.tabs > label")) {
      if (label.textContent === language) label.control.checked = true;
    }
  };
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("fieldset.tabs > input")) return;
    const top = () => target.labels[0].getBoundingClientRect().top;
    const [language, before] = [target.labels[0].textContent, top()];
    choose(language);
    scrollBy({ top: top() - before, behavior: "instant" });
    try { localStorage.setItem("language", language); } catch { /* Not remembered without storage. */ }
  });
  try { choose(localStorage.getItem("language")); } catch { /* The first tab is open. */ }
}
