import { computed, type ReadonlySignal } from "@preact/signals";
import type { TimelineEntry } from "../../api/shapes.ts";
import { kept } from "../../live/settings.ts";
import { entries } from "../../live/stream.ts";
import { everything, type Filter, filterOf, select, textOf } from "./filter.ts";
import { type Index, indexOf } from "./index-of.ts";

const text = kept<string>("events-filter", "");

/** What is looked for; this browser remembers it. */
export const filter: ReadonlySignal<Filter> = computed(() => filterOf(text.value));

export function narrow(change: Partial<Filter>): void {
  text.value = textOf({ ...filter.peek(), ...change });
}

export function clearFilter(): void {
  text.value = textOf({ ...everything, reads: filter.peek().reads });
}

export const index: ReadonlySignal<Index> = computed(() => indexOf(entries.value));

/** Everything that may be shown when nothing is looked for. */
export const worthALine: ReadonlySignal<readonly TimelineEntry[]> = computed(() =>
  select(entries.value, { ...everything, reads: filter.value.reads }, index.value),
);

/** What is shown, oldest first. */
export const shown: ReadonlySignal<readonly TimelineEntry[]> = computed(() =>
  select(entries.value, filter.value, index.value),
);

/** Whether entries of several bots are shown. */
export const severalBots: ReadonlySignal<boolean> = computed(() => {
  const bots = entries.value.flatMap((entry) => ("bot" in entry ? [entry.bot] : []));
  return new Set(bots).size > 1;
});
