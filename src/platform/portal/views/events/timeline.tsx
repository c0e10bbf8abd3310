import { useEffect, useRef, useState } from "preact/hooks";
import { wordsOf } from "../../../timeline/words.ts";
import type { TimelineEntry } from "../../../types.ts";
import { useKeys } from "../../keys/keys.ts";
import { Badge } from "../../parts/bits.tsx";
import { timeOfDay } from "../../parts/time-of-day.ts";
import { useEnd } from "../../parts/use-end.ts";
import { eventIdsOf } from "./index-of.ts";
import { addressedAs, marksOf, moved, placeOf } from "./lines.ts";
import { index, severalBots } from "./store.ts";

/** Lines that are shown at first, and that are added by "Show older". */
const PAGE = 200;

/** Lines that PageUp and PageDown pass. */
const STEP = 15;

export interface TimelineProps {
  readonly lines: readonly TimelineEntry[];
  /** The address of the entry that is open; empty if none is. */
  readonly open: string;
  readonly onOpen: (entry: TimelineEntry, by: "key" | "pointer") => void;
}

/** The entries, newest at the end. */
export function Timeline({ lines, open, onOpen }: TimelineProps) {
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { first, showFrom } = usePage(lines, atEnd);
  const [activeSeq, setActive] = useState<number>();
  const at = activeSeq === undefined ? lines.length : placeOf(lines, activeSeq);
  const active = activeSeq === undefined ? undefined : lines[Math.min(at, lines.length - 1)];
  const newest = lines.at(-1)?.seq.toString();
  const { unseen, toEnd, onScroll } = useEnd({ log: list, atEnd, newest, shown: lines });
  const reach = (place: number) => {
    const entry = lines[place];
    if (entry === undefined) return;
    if (place < first) showFrom(place);
    setActive(entry.seq);
  };
  const press = (key: string): boolean => {
    const to = moved(key, { from: at, count: lines.length, page: STEP });
    if (to !== undefined) reach(to);
    return to !== undefined;
  };
  useEffect(() => {
    if (active === undefined) return;
    document.getElementById(idOfLine(active))?.scrollIntoView({ block: "nearest" });
  }, [active?.seq]);
  // An entry can be opened by its address, or from the details of another one.
  useEffect(() => reach(lines.findIndex((entry) => addressedAs(entry) === open)), [open]);
  const step = (key: string) => {
    list.current?.focus();
    press(key);
  };
  useKeys(
    [
      { key: "j", label: "Next entry", run: () => step("ArrowDown") },
      { key: "k", label: "Entry before", run: () => step("ArrowUp") },
    ].map((key) => ({ ...key, group: "Events" })),
  );
  return (
    <div class="timeline">
      {first > 0 && (
        <button type="button" class="older" onClick={() => showFrom(first - PAGE)}>
          Show older ({first})
        </button>
      )}
      <div
        ref={list}
        class="timeline-list"
        role="listbox"
        tabIndex={0}
        aria-label="Timeline"
        aria-activedescendant={active && idOfLine(active)}
        onScroll={onScroll}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const opened = event.key === "Enter" && active !== undefined;
          if (opened) onOpen(active, "key");
          if (opened || press(event.key)) event.preventDefault();
        }}
      >
        {lines.slice(first).map((entry) => (
          <Line
            key={entry.seq}
            entry={entry}
            isActive={entry === active}
            isOpen={addressedAs(entry) === open}
            isRelated={eventIdsOf(entry).includes(open)}
            onClick={() => {
              setActive(entry.seq);
              onOpen(entry, "pointer");
            }}
          />
        ))}
      </div>
      {unseen && (
        <button type="button" class="primary follow" onClick={toEnd}>
          ↓ Follow the newest
        </button>
      )}
    </div>
  );
}

/** Shows the newest page. While the reader looks at older lines, none of those that are shown goes. */
function usePage(lines: readonly TimelineEntry[], atEnd: { readonly current: boolean }) {
  const [oldestSeq, setOldest] = useState<number>();
  const shownFrom = useRef<number>(undefined);
  const usual = Math.max(0, lines.length - PAGE);
  const kept = oldestSeq ?? (atEnd.current ? undefined : shownFrom.current);
  const first = kept === undefined ? usual : Math.min(placeOf(lines, kept), usual);
  shownFrom.current = lines[first]?.seq;
  const showFrom = (place: number) => {
    setOldest(place <= 0 ? 0 : lines[place]?.seq);
  };
  return { first, showFrom };
}

function idOfLine({ seq }: TimelineEntry): string {
  return `line-${seq}`;
}

interface LineProps {
  readonly entry: TimelineEntry;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly isRelated: boolean;
  readonly onClick: () => void;
}

function Line({ entry, onClick, ...is }: LineProps) {
  const state = [is.isActive && "active", is.isOpen && "open", is.isRelated && "related"];
  const bot = severalBots.value && "bot" in entry ? ` → @${entry.bot}` : "";
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the option that is active
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the list does the same
    <div
      role="option"
      id={idOfLine(entry)}
      data-item={entry.seq}
      class={["event-line", ...state.filter(Boolean)].join(" ")}
      aria-selected={is.isActive}
      onClick={onClick}
    >
      <time dateTime={entry.at}>{timeOfDay(entry.at)}</time>
      <span class={`event-kind ${entry.kind}`}>{entry.kind}</span>
      <span class="event-words">
        {wordsOf(entry)}
        {bot}
      </span>
      <span class="event-marks">
        {marksOf(entry, index.value).map(({ tone, text }) => (
          <Badge key={text} tone={tone}>
            {text}
          </Badge>
        ))}
      </span>
    </div>
  );
}
