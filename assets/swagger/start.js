/* Swagger UI has a dark look that a class of the root switches on. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

/* What Swagger UI leaves to be said for those who do not see it: names of fields, and headings in their order. */
function mend() {
  document.querySelector("#servers")?.setAttribute("aria-label", "Server");
  for (const [part, name] of [[".information-container", "About the API"], [".scheme-container", "Where it is"]]) {
    document.querySelector(part)?.setAttribute("role", "region");
    document.querySelector(part)?.setAttribute("aria-label", name);
  }
  const levels = { ".info .title": 2, ".opblock-tag": 3, "section.models h4": 3 };
  for (const [headings, level] of Object.entries(levels)) {
    document.querySelectorAll(headings).forEach((heading) => heading.setAttribute("aria-level", level));
  }
}

/* Without deep links the head of an operation is one button, and not a link within a button. */
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#explorer",
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
  onComplete: mend,
});
