import { join, relative } from "node:path";
import { root } from "../root.ts";
import { readContents } from "./contents.ts";
import { EXCLUDED, pageOf, siteTarget } from "./pages.ts";
import { githubSlug } from "./slug.ts";

/** Sections that are expanded on every page. Other sections are expanded only on their own pages. */
const UNFOLDED = ["Start", "Guides", "Concepts"];

/** In kB. The search index is a single large file. */
const CHUNK_LIMIT = 4_000;

interface Token {
  readonly type: string;
  readonly children: readonly Token[] | null;
  tag: string;
  attrs: unknown;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface MarkdownIt {
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (state: { tokens: readonly Token[]; env: { path: string } }) => void,
      ): void;
    };
  };
}

/** Returns the VitePress configuration. Reads the repository's URL from `SITE_REPOSITORY`. */
export function siteConfig(): Readonly<Record<string, unknown>> {
  const repository = process.env["SITE_REPOSITORY"] || undefined;
  return {
    title: "service-bot",
    description: "A TypeScript framework for bots on a social platform.",
    lang: "en",
    // The site also has pages outside docs/.
    srcDir: "..",
    srcExclude: EXCLUDED,
    rewrites: (file: string) => pageOf(file) ?? file,
    transformHead: ({ siteData: { base } }: { siteData: { base: string } }) => [
      ["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }],
    ],
    vite: {
      publicDir: join(root, "site", "public"),
      plugins: [vueForPages],
      ssr: { external: ["vue", "vue/server-renderer"] },
      build: { chunkSizeWarningLimit: CHUNK_LIMIT },
    },
    markdown: {
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
      languageAlias: { promql: "txt" },
      anchor: { slugify: githubSlug },
      config: (md: MarkdownIt) =>
        md.core.ruler.push("site-page", ({ tokens, env }) =>
          adaptPage(tokens, relative(root, env.path), repository),
        ),
    },
    themeConfig: {
      logo: { src: "/icon.svg", alt: "" },
      nav: navigation(),
      sidebar: sidebar(),
      outline: [2, 3],
      search: { provider: "local" },
      socialLinks: repository === undefined ? [] : [{ icon: "github", link: repository }],
      footer: { message: "MIT licensed" },
    },
  };
}

interface Resolver {
  resolve(source: string, importer: string, options: object): unknown;
}

/** Resolves Vue for pages outside site/, because it is installed only in tools/. */
const vueForPages = {
  name: "vue-for-pages",
  enforce: "pre",
  resolveId(this: Resolver, source: string, importer: string | undefined, options: object) {
    if (!/^vue(?:$|\/)/.test(source) || !importer?.includes(".md")) return null;
    return this.resolve(source, join(root, "tools", "package.json"), {
      ...options,
      skipSelf: true,
    });
  },
};

/**
 * Rewrites a page's links to site pages or repository files. Other links become plain text. Also disables Vue in inline
 * code, and removes empty table headers.
 */
function adaptPage(tokens: readonly Token[], file: string, repository: string | undefined): void {
  for (const [index, { type, children }] of tokens.entries()) {
    // An empty header confuses screen readers.
    const [open, close] = [tokens[index - 1], tokens[index + 1]];
    if (type === "inline" && open?.type === "th_open" && close && children?.length === 0)
      open.tag = close.tag = "td";
    let isPlain = false;
    for (const token of children ?? []) {
      if (token.type === "link_open") {
        const target = siteTarget(file, token.attrGet("href") ?? "", { repository });
        isPlain = target === undefined;
        if (target !== undefined) token.attrSet("href", target);
        else Object.assign(token, { tag: "span", attrs: null });
      } else if (token.type === "link_close" && isPlain) {
        token.tag = "span";
      } else if (token.type === "code_inline") {
        // Vue would evaluate braces in code.
        token.attrSet("v-pre", "");
      }
    }
  }
}

function navigation(): unknown[] {
  const first = readContents()
    .filter(({ title }) => ["Start", "Guides", "Concepts", "Reference"].includes(title))
    .flatMap(({ title, pages: [page] }) =>
      page === undefined ? [] : [{ text: title, link: link(page.file) }],
    );
  const more = [
    { text: "All pages", link: "/contents" },
    { text: "Changelog", link: "/changelog" },
    { text: "Security", link: "/security" },
    { text: "Contributing", link: "/contributing" },
  ];
  return [...first, { text: "More", items: more }];
}

function sidebar(): unknown[] {
  return readContents().map(({ title, pages }) => ({
    text: title,
    collapsed: !UNFOLDED.includes(title),
    items: pages.map(({ title: text, file }) => ({ text, link: link(file) })),
  }));
}

function link(file: string): string {
  return `/${pageOf(`docs/${file}`)}`;
}
