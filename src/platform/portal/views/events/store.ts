import { computed, type ReadonlySignal } from "@preact/signals";
import type { TimelineEntry } from "../../../types.ts";
import { kept } from "../../live/settings.ts";
import { entries } from "../../live/stream.ts";
import { select } from "./filter.ts";
import { type Index, indexOf } from "./index-of.ts";

/** The words that are searched for. */
export const text = kept<string>("events-text", "");

/** Whether idle reads are shown. */
export const reads = kept<"shown" | "hidden">("events-reads", "hidden");

export const index: ReadonlySignal<Index> = computed(() => indexOf(entries.value));

/** Entries that are shown without a search, oldest first. */
export const unfiltered: ReadonlySignal<readonly TimelineEntry[]> = computed(() =>
  select(entries.value, { text: "", reads: reads.value === "shown" }, index.value),
);

/** Entries that are shown, oldest first. */
export const shown: ReadonlySignal<readonly TimelineEntry[]> = computed(() =>
  select(unfiltered.value, { text: text.value, reads: true }, index.value),
);

/** True if the entries are about several bots. */
export const severalBots: ReadonlySignal<boolean> = computed(() => {
  const bots = entries.value.flatMap((entry) => ("bot" in entry ? [entry.bot] : []));
  return new Set(bots).size > 1;
});
