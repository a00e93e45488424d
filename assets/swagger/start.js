SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#explorer",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
});
