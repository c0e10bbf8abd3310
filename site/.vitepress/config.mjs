// Loaded at run time, because the bundler of this file does not read the sources of the checkout.
const { siteConfig } = await import(new URL("../../scripts/site/config.ts", import.meta.url).href);

export default siteConfig();
