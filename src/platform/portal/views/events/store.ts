import { computed, type ReadonlySignal } from "@preact/signals";
import { createSetting } from "../../live/settings.ts";
import { entries } from "../../live/stream.ts";
import { isTrouble } from "./outcomes.ts";
import { select } from "./search.ts";
import { type Overview, overviewOf, type Thing } from "./stories.ts";

export const text = createSetting<string>("events-text", "");

/** Selected event type. Empty for every type. */
export const type = createSetting<string>("events-type", "");

export const trouble = createSetting<"all" | "trouble">("events-trouble", "all");

export const overview: ReadonlySignal<Overview> = computed(() => overviewOf(entries.value));

export const visibleThings: ReadonlySignal<readonly Thing[]> = computed(() => {
  const onlyTrouble = trouble.value === "trouble";
  const filter = { text: text.value, type: type.value, onlyTrouble };
  return select(overview.value, filter).toReversed();
});

export const failedCount: ReadonlySignal<number> = computed(() => {
  const { things } = overview.value;
  return things.filter((thing) => isTrouble(thing, overview.value)).length;
});

export function showAll(): void {
  text.value = "";
  type.value = "";
  trouble.value = "all";
}
