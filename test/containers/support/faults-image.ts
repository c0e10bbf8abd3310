import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bundleLibrary } from "../../../scripts/pack/bundle.ts";
import { root } from "../../../scripts/root.ts";
import { POSTGRES_SCHEMA, SAMPLE_PICTURE, SQLITE_SCHEMA } from "../../faces/files.ts";
import type { Docker } from "../engine/docker.ts";
import { ComposeProject } from "./compose.ts";

/** The bot under test, relative to the checkout. */
const ENTRY = "test/faults/bot/main";
const READ = [join(root, "package.json"), SAMPLE_PICTURE, SQLITE_SCHEMA, POSTGRES_SCHEMA];

/**
 * Builds an image of the bot under test, with the Dockerfile and packages of a scaffolded bot on PostgreSQL. The
 * framework is bundled with the bot, as it is in the npm package.
 *
 * @returns the image's id
 */
export async function makeFaultsImage(docker: Docker): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "faults-image-"));
  try {
    const { dir } = await ComposeProject.scaffold(docker, folder, "faults", [
      "--store",
      "postgres",
    ]);
    const src = join(dir, "src");
    rmSync(src, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const external = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    await bundleLibrary({ src: root, outDir: src, entries: [ENTRY], external });
    for (const path of READ) cpSync(path, join(src, relative(root, path)), { recursive: true });
    writeFileSync(join(src, "main.ts"), `import "./${ENTRY}.js";\n`);
    const tag = "service-bot-test/faults";
    await docker.run("build", "--tag", tag, dir);
    return await docker.inspect<string>(tag, "json .Id");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
