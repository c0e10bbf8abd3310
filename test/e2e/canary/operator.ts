import { expect } from "vitest";
import type { EventDetails } from "../../faces/inbox.ts";
import { leaks } from "./forms.ts";
import type { Stage } from "./stage.ts";

/** Fields of `inbox show` and `inbox list --json` that contain user and bot texts on purpose. */
const exempt: readonly (keyof EventDetails)[] = ["body", "steps"];

/** The same content in the plain output: the sections with these headings, and step names in suggested commands. */
const exemptParts = ["event\n", "steps\n"];
const stepNames = /(?<=Unknown result of \d+ steps?: )".*"(?=\.$)/m;

const list = ["inbox", "list", "--state", "all", "--limit", "100"];

export async function askForEverything(it: Stage): Promise<void> {
  await Promise.all([
    it.run(["inbox", "stats"]),
    it.run(["inbox", "--json"]),
    it.run(list),
    it.run(["inbox", "show", "nobody"]),
    it.run(["doctor", "--json"]),
  ]);
}

export async function askForTheEnd(it: Stage): Promise<void> {
  await Promise.all([it.run(["inbox"]), it.run([...list, "--json"], withoutFieldsOfAll)]);
}

/**
 * Runs `inbox show` on the events with the most details, and discards one event. Only the exempt fields may contain
 * user texts.
 */
export async function showAndDiscard(it: Stage): Promise<void> {
  const [ofStep, ofError] = await Promise.all([deadOf(it, "step"), deadOf(it, "json")]);
  const shown = await Promise.all([
    it.run(["inbox", "show", ofStep], withoutParts),
    it.run(["inbox", "show", ofError, "--json"], withoutFields),
  ]);
  // Positive control: the exempt parts do contain a user text.
  for (const { code, out } of shown) {
    expect(code).toBe(0);
    expect(leaks(out, it.canaries)).toEqual(["message"]);
  }
  await it.run(["inbox", "discard", ofStep, "--reason", "seen"]);
}

/** Adds the details of every event to the leak check, except the exempt fields. */
export async function showAll(it: Stage, atLeast: number): Promise<void> {
  const shown = await read(it);
  expect(shown.filter(({ body }) => body !== undefined).length).toBeGreaterThanOrEqual(atLeast);
  it.keep(shown.map((event) => JSON.stringify(without(event))).join("\n"));
}

async function read(it: Stage): Promise<EventDetails[]> {
  const inbox = await it.open();
  const { events } = await inbox.admin.list({ limit: 100 });
  const shown = await Promise.all(events.map(({ id }) => inbox.admin.show(id)));
  await inbox.close();
  return shown;
}

async function deadOf(it: Stage, word: string): Promise<string> {
  const shown = await read(it);
  const found = shown.find(
    ({ state, type, body = "" }) =>
      state === "dead" && type === "dm.message" && body.includes(`"${word} `),
  );
  return found?.id ?? "";
}

function withoutParts(out: string): string {
  const parts = out.replace(stepNames, "").split("\n\n");
  return parts.filter((part) => !exemptParts.some((start) => part.startsWith(start))).join("\n\n");
}

function withoutFields(out: string): string {
  return JSON.stringify(without(JSON.parse(out)));
}

function withoutFieldsOfAll(out: string): string {
  const { events, ...rest }: { events: readonly object[] } = JSON.parse(out);
  return JSON.stringify({ ...rest, events: events.map(without) });
}

function without(event: object): object {
  const fields = Object.entries(event).filter(([name]) => !exempt.some((one) => one === name));
  return Object.fromEntries(fields);
}
