import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { linkTools } from "../../tools/install.ts";
import { writeReference } from "../reference/write.ts";
import { root } from "../root.ts";
import { deadLinks } from "./dead-links.ts";
import { homepage } from "./homepage.ts";

const site = join(root, "site");

export interface SiteOptions {
  /** Path of the site on its host, with a slash at both ends. Default: the path of `homepage` in package.json. */
  readonly base?: string | undefined;
  /** URL of the repository, for links to files that are not pages. If it is missing, these links become plain text. */
  readonly repository?: string | undefined;
  /** Default: `site/.vitepress/dist`. */
  readonly folder?: string | undefined;
}

/**
 * Builds the documentation site. Installs its tools first if they are missing.
 *
 * @returns the folder of the site
 * @throws {Error} if the build fails or a link is dead
 */
export async function buildSite({
  base = new URL(`${homepage}/`).pathname,
  repository,
  folder,
}: SiteOptions = {}): Promise<string> {
  const out = folder ?? join(site, ".vitepress", "dist");
  writeReference();
  await linkTools(site);
  const program = join(site, "node_modules", "vitepress", "bin", "vitepress.js");
  const { status } = spawnSync(
    process.execPath,
    [program, "build", site, "--base", base, "--outDir", out],
    {
      cwd: site,
      env: { ...process.env, SITE_REPOSITORY: repository ?? "" },
      stdio: "inherit",
    },
  );
  if (status !== 0) throw new Error("the site cannot be built");
  // The packed README shows a picture. VitePress adds a hash to the names of the pictures on pages.
  cpSync(join(root, "docs", "images"), join(out, "images"), { recursive: true });
  const dead = deadLinks(out, base);
  if (dead.length > 0) throw new Error(`the site has dead links:\n${dead.join("\n")}`);
  return out;
}
