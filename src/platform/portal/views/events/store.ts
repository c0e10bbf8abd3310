import { computed, type ReadonlySignal } from "@preact/signals";
import { kept } from "../../live/settings.ts";
import { entries } from "../../live/stream.ts";
import { isTrouble } from "./outcomes.ts";
import { select } from "./search.ts";
import { type Overview, overviewOf, type Thing } from "./stories.ts";

/** Search text. */
export const text = kept<string>("events-text", "");

/** The event type that is shown. Empty: every type. */
export const type = kept<string>("events-type", "");

export const trouble = kept<"all" | "trouble">("events-trouble", "all");

export const overview: ReadonlySignal<Overview> = computed(() => overviewOf(entries.value));

/** Things that the search and the filters leave, the newest first. */
export const shown: ReadonlySignal<readonly Thing[]> = computed(() => {
  const onlyTrouble = trouble.value === "trouble";
  const filter = { text: text.value, type: type.value, onlyTrouble };
  return select(overview.value, filter).toReversed();
});

/** Counts events that have failed or are dead letters, and requests that fail now. */
export const failedCount: ReadonlySignal<number> = computed(() => {
  const { things } = overview.value;
  return things.filter((thing) => isTrouble(thing, overview.value)).length;
});

/** Clears the search and the filters. */
export function showAll(): void {
  text.value = "";
  type.value = "";
  trouble.value = "all";
}
