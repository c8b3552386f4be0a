// Starts the interactive reference. It stands in a file of its own so that the page needs no inline script.
const here = new URL(document.currentScript.src);

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

// Calls go to the instance that served the page: the content security policy allows no other.
const servers = [{ url: new URL("..", here).href.replace(/\/$/, ""), description: "This instance" }];

const forThisInstance = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (spec) => {
          // Swagger UI would make the identifier a link to a page on the internet.
          const { identifier: _, ...license } = spec.info?.license ?? {};
          return original({ ...spec, servers, info: { ...spec.info, license } });
        },
      },
    },
  },
});

window.SwaggerUIBundle({
  url: new URL("../openapi.yaml", here).href,
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  filter: true,
  plugins: [forThisInstance],
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  // The default asks a validator on the internet about the document.
  validatorUrl: null,
});
