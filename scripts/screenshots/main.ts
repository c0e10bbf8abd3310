/**
 * Takes the pictures for README.md and docs/reference/local-platform.md. Creates a bot, starts `npm run dev`, and uses
 * the portal in a browser.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { chromium as browserProgram } from "../../test/support/chromium.ts";
import { reservePort } from "../../test/support/reserve-port.ts";
import { scaffoldedBot, withoutBotVariables } from "../../test/support/scaffolded.ts";
import { root } from "../root.ts";
import { Dev } from "./dev.ts";
import { scenes } from "./scenes.ts";

const out = join(root, "docs", "images");

/** In CSS pixels. The pictures have twice the resolution. */
const WINDOW = { width: 1120, height: 700 };

const folder = await mkdtemp(join(tmpdir(), "service-bot-screenshots-"));
try {
  const { dir } = await scaffoldedBot(folder, "my-bot", ["--yes", "--no-git"]);
  const ports = { platform: await reservePort(), bot: await reservePort() };
  const env = join(dir, ".env");
  const text = await readFile(env, "utf8");
  await writeFile(env, `${text.replace(":4400", `:${ports.platform}`)}\nPORT=${ports.bot}\n`);
  const dev = await Dev.start(dir, withoutBotVariables());
  try {
    await takePictures(dev.portal);
  } finally {
    await dev.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function takePictures(portal: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: browserProgram(),
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
  try {
    const context = await browser.newContext({ viewport: WINDOW, deviceScaleFactor: 2 });
    const page = await context.newPage();
    await page.goto(portal);
    for (const { name, colours = "light", size, play } of scenes) {
      await page.emulateMedia({ colorScheme: colours });
      await page.setViewportSize(size ?? WINDOW);
      await play(page);
      // Wait until the notification disappears, because it covers the page.
      await page.locator(".toast").first().waitFor({ state: "detached" });
      const picture = await page.screenshot({ animations: "disabled" });
      // A small palette reduces the file to a tenth of its size.
      const { size: bytes } = await sharp(picture)
        .png({ palette: true, colours: 128, effort: 10 })
        .toFile(join(out, `${name}.png`));
      console.log(`docs/images/${name}.png  ${Math.ceil(bytes / 1000)} kB`);
    }
  } finally {
    await browser.close();
  }
}
