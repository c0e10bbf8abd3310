import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TracerProvider } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { GiveUp, RetryLater } from "../../src/index.ts";
import { installTools } from "../../tools/install.ts";
import { root } from "../docs/markdown.ts";
import { spanOutcomes, stepOutcomes } from "../faces/observe.ts";
import { typeErrors } from "../support/type-errors.ts";
import { sqlite } from "../support/world/stores.ts";
import { type SeenSpan, Spans } from "./spans.ts";
import { TracedWorld } from "./world.ts";

const page = readFileSync(join(root, "docs/operate/tracing.md"), "utf8");

function documented(): Record<string, readonly string[]> {
  const rows = [
    ...page.matchAll(/^\| `([^`]+)` \| (consumer|client|internal) \| [^|]* \| (.*) \|$/gm),
  ];
  return Object.fromEntries(
    rows.map(([, name, kind = "", attributes = ""]) => [
      name,
      [kind, ...[...attributes.matchAll(/`([^`]+)`/g)].map(([, one]) => one ?? "").toSorted()],
    ]),
  );
}

/** Returns a span's name as the page writes it. */
function nameOf({ name, kind }: SeenSpan): string {
  if (kind === "CLIENT") return "<method> <path>";
  return name.replace(/^process .*/, "process <type>").replace(/^step .*/, "step <name>");
}

/** The packages that the page asks readers to install. */
const modules = await installTools();

test("the set-up of OpenTelemetry compiles with its packages", async () => {
  const [, setUp = ""] = /^```ts\n(import [^`]*exporter-[^`]*)```$/m.exec(page) ?? [];
  expect(setUp).toContain("setGlobalTracerProvider");
  expect(await typeErrors({ "tracing.ts": setUp }, { modules })).toBe("");
});

/** The part of `@opentelemetry/sdk-trace` that this test uses. */
interface Sdk {
  readonly TracerProvider: new (options: {
    readonly spanProcessors: readonly object[];
  }) => TracerProvider;
}

const sdk: Sdk = createRequire(join(modules, "any.js"))("@opentelemetry/sdk-trace");

const spans = new Spans((onEnd) => {
  const done = async () => undefined;
  const processor = { onStart: () => undefined, onEnd, forceFlush: done, shutdown: done };
  return new sdk.TracerProvider({ spanProcessors: [processor] });
});

async function happen(): Promise<void> {
  const world = new TracedWorld();
  const store = sqlite();
  const before = await world.startBot(
    (bot) =>
      bot.on("dm.message", () => {
        throw new RetryLater(1_000);
      }),
    store,
  );
  await world.deliver(before, [world.write("c_1", "of a bot that did not trace")]);
  await before.stop();
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", async (ctx) => {
        await ctx.reply("hi");
        if (ctx.payload.excerpt === "broken") throw new GiveUp("no");
      }),
    { ...store, tracing: "on", delivery: "auto", startFrom: "oldest", requestRetries: 1 },
  );
  await world.clock.advance(1_000);
  await world.deliver(bot, [world.write("c_1", "delivered"), world.write("c_1", "broken")]);
  await world.deliver(bot, [], { headers: { "x-service-signature": "x" } });
  world.write("c_1", "found in the log");
  world.platform.refuse({ code: "SOMETHING", status: 503, retryAfterSeconds: 0, method: "POST" });
  while (spans.named("poll").length === 0) await world.clock.advance(10_000);
  while (!spans.all.some((span) => "http.request.resend_count" in span.attributes)) {
    await world.clock.advance(1_000);
  }
  await bot.idle();
}

test("docs/operate/tracing.md has every span with its kind and its attributes, and no other", async () => {
  await happen();
  const seen = new Map<string, Set<string>>();
  for (const span of spans.all) {
    const name = nameOf(span);
    const told = seen.get(name) ?? new Set([span.kind.toLowerCase()]);
    for (const attribute of Object.keys(span.attributes)) told.add(attribute);
    seen.set(name, told);
  }
  const shown = [...seen].map(([name, [kind, ...attributes]]) => [
    name,
    [kind, ...attributes.filter((one) => one !== "error.type").toSorted()],
  ]);
  expect(Object.fromEntries(shown)).toEqual(documented());
  expect(spans.all.some((span) => "error.type" in span.attributes)).toBe(true);
});

test("each attribute of our own is explained", () => {
  const own = new Set([...page.matchAll(/`(service_bot\.[a-z_.]+)`/g)].map(([, name]) => name));
  const [, meanings = ""] = page.split("| attribute | meaning |");
  const [table = ""] = meanings.split("\n\n");
  const explained = new Set(
    [...table.matchAll(/`(service_bot\.[a-z_.]+)`/g)].map(([, name]) => name),
  );
  expect(explained).toEqual(own);
  expect(table).toContain("`error.type`");
});

test("each outcome that a run or a step can have is explained", () => {
  const outcomes = [...Object.values(spanOutcomes), ...stepOutcomes];
  expect(outcomes).toContain("released");
  expect(outcomes).toContain("found");
  // A run that was skipped never started, so it has no span.
  for (const outcome of outcomes.filter((one) => one !== "skipped")) {
    expect(page).toContain(`\`${outcome}\``);
  }
});
