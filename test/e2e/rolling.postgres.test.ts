import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { POSTGRES_SCHEMA, POSTGRES_SOURCES } from "../faces/files.ts";
import type { Platform } from "../faces/platform.ts";
import { NEXT_POSTGRES_STEP, nextStepName } from "../support/next-schema.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, type Place } from "../support/postgres/open.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { postgres } from "../support/world/stores.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Schema numbers of this version and the next version. */
const PRESENT = readdirSync(POSTGRES_SCHEMA).length;
const NEXT = PRESENT + 1;

/** Copies this package and adds one schema migration, extended by `more`. Returns the copy's folder. */
function nextVersion(readableFrom: number, more = ""): string {
  const folder = temporaryFolder();
  for (const name of ["src", "test/e2e/versioned-bot.ts", "package.json"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(
    join(folder, relative(ROOT, POSTGRES_SCHEMA), nextStepName(PRESENT)),
    `-- readable from: ${readableFrom}\n${NEXT_POSTGRES_STEP}${more}`,
  );
  return folder;
}

/** Creates a version that older versions cannot work with: they cannot even renew their registration. */
function incompatibleVersion(): string {
  const folder = nextVersion(NEXT, "ALTER TABLE instance RENAME COLUMN delivered_at TO heard_at;");
  const sources = join(folder, relative(ROOT, POSTGRES_SOURCES));
  for (const name of readdirSync(sources).filter((it) => it.endsWith(".ts"))) {
    const file = join(sources, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("delivered_at", "heard_at"));
  }
  return folder;
}

async function scene() {
  const place = await emptyPlace();
  const platform = await runPlatform();
  const start = (name: string, folder = ROOT) =>
    new BotProcess(platform, {
      script: join(folder, "test/e2e/versioned-bot.ts"),
      store: postgres(place),
      env: { NAMED: name, AUDIT_INTERVAL_MS: "200", NODE_DISABLE_COMPILE_CACHE: "1" },
    });
  return { place, start, talk: new Talk(platform) };
}

class Talk {
  readonly #platform: Platform;
  readonly #texts = new Map<string, string[]>();
  #written = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  async deliverTo(bot: BotProcess): Promise<void> {
    await bot.ready();
    this.#platform.control.saveWebhook({ url: `${bot.url}/webhook` });
  }

  /** Sends three messages from each of four users. Once all of them have a reply, resolves to the bots that replied. */
  async round(): Promise<Set<string>> {
    const texts: string[] = [];
    for (let n = 0; n < 12; n++) {
      const text = `message ${this.#written++}`;
      const from = `person${n % 4}`;
      const { conversationId = "" } = this.#platform.control.act({
        type: "dm.message",
        from,
        text,
      });
      this.#texts.set(conversationId, [...(this.#texts.get(conversationId) ?? []), text]);
      texts.push(text);
    }
    const answers = texts.map((text) => this.#answerTo(text));
    return new Set(await Promise.all(answers));
  }

  async #answerTo(text: string): Promise<string> {
    const isIt = (said: string | undefined) => said?.endsWith(`: ${text}`) ?? false;
    const options = { timeoutMs: 30_000 };
    const entry = await this.#platform.waitFor("api", (it) => isIt(it.text), options);
    return entry.text?.split(":", 1)[0] ?? "";
  }

  async until(...names: readonly string[]): Promise<void> {
    for (const open = new Set(names); open.size > 0; ) {
      for (const name of await this.round()) open.delete(name);
    }
  }

  expectAllAnsweredOnce(): void {
    for (const [conversation, texts] of this.#texts) {
      const answers = this.#platform.control
        .messages(conversation)
        .filter(({ fromBot }) => fromBot)
        .map(({ text }) => text.replace(/^\w+: /, ""));
      expect(answers).toEqual(texts);
    }
  }
}

const versionsIn = (place: Place) =>
  look(place, `SELECT version, readable_from FROM ${place.schema}.migration ORDER BY version`);

describe("while a new version is rolled out", { timeout: 90_000 }, () => {
  test("that only adds to the schema, old and new bots reply to each message once, in order", async () => {
    const { place, start, talk } = await scene();
    const before = start("before");
    await talk.deliverTo(before);
    expect(await talk.round()).toEqual(new Set(["before"]));

    const folder = nextVersion(1);
    const next = start("next", folder);
    const deliveredToNext = talk.deliverTo(next);
    // Messages keep arriving, even during the schema migration.
    await talk.round();
    await deliveredToNext;
    expect(await versionsIn(place)).toContainEqual({ version: NEXT, readable_from: 1 });
    await talk.until("before", "next");
    await talk.deliverTo(before);
    await talk.until("before", "next");

    // A bot of the old version restarts, as it would after a crash.
    const again = start("again");
    await talk.deliverTo(again);
    await talk.until("before", "next", "again");

    await talk.deliverTo(next);
    before.kill("SIGTERM");
    again.kill("SIGTERM");
    await talk.round();
    for (const old of [before, again]) expect(await old.exited).toMatchObject({ code: 0 });
    expect(await talk.round()).toEqual(new Set(["next"]));
    talk.expectAllAnsweredOnce();
  });

  test("that is incompatible with the old version, the old bot exits with the reason, and the new bot takes over", async () => {
    const { place, start, talk } = await scene();
    const before = start("before");
    await talk.deliverTo(before);
    await talk.round();

    const next = start("next", incompatibleVersion());
    await talk.deliverTo(next);
    expect(await versionsIn(place)).toContainEqual({ version: NEXT, readable_from: NEXT });
    await talk.round();
    const sentence = new RegExp(
      `schema ${NEXT}, this version knows ${PRESENT}.*Update service-bot`,
    );
    expect(await before.exited, before.output()).toMatchObject({ code: 1 });
    expect(before.stderr.join("\n")).toMatch(sentence);
    await before.message("stopped");

    const again = start("again");
    expect(await again.exited).toMatchObject({ code: 1 });
    expect(again.stderr.join("\n")).toMatch(sentence);
    expect(await talk.round()).toEqual(new Set(["next"]));
    talk.expectAllAnsweredOnce();
  });
});
