import { expect } from "vitest";
import type { EventDetails } from "../../faces/inbox.ts";
import { leaks } from "./forms.ts";
import type { Stage } from "./stage.ts";

/** Fields of `inbox show` and `inbox list --json` that hold the words of people and of the bot, on purpose. */
const exempt: readonly (keyof EventDetails)[] = ["body", "steps"];

/** The same, as people read it: the parts that begin like this, and the names of steps in what can be done. */
const exemptParts = ["event\n", "steps\n"];
const stepNames = /(?<=Unknown result of \d+ steps?: )".*"(?=\.$)/m;

const list = ["inbox", "list", "--state", "all", "--limit", "100"];

/** What an operator types to see how it goes. */
export async function askForEverything(it: Stage): Promise<void> {
  await Promise.all([
    it.run(["inbox", "stats"]),
    it.run(["inbox", "--json"]),
    it.run(list),
    it.run(["inbox", "show", "nobody"]),
    it.run(["doctor", "--json"]),
  ]);
}

/** What the inbox has come to in the end. */
export async function askForTheEnd(it: Stage): Promise<void> {
  await Promise.all([it.run(["inbox"]), it.run([...list, "--json"], withoutFieldsOfAll)]);
}

/** `inbox show` of the events that have most to tell, and a decision; all may be seen but what it is there to show. */
export async function showAndDiscard(it: Stage): Promise<void> {
  const [ofStep, ofError] = await Promise.all([deadOf(it, "step"), deadOf(it, "json")]);
  const shown = await Promise.all([
    it.run(["inbox", "show", ofStep], withoutParts),
    it.run(["inbox", "show", ofError, "--json"], withoutFields),
  ]);
  // Else there was nothing to leave out.
  for (const { code, out } of shown) {
    expect(code).toBe(0);
    expect(leaks(out, it.canaries)).toEqual(["message"]);
  }
  await it.run(["inbox", "discard", ofStep, "--reason", "seen"]);
}

/** Everything about each event but for the exceptions, as the inbox has it. */
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

/** The id of the dead direct message that begins with this word. */
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
