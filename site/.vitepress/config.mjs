// Loaded at run time, because VitePress bundles this file, and the bundler does not read the sources outside `site/`.
const { siteConfig } = await import(new URL("../../scripts/site/config.ts", import.meta.url).href);

export default siteConfig();
