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
