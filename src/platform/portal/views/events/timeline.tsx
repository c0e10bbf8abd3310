import { useEffect, useRef } from "preact/hooks";
import type { TimelineEntry } from "../../api/shapes.ts";
import { useKeys } from "../../keys/keys.ts";
import { useMedia } from "../../parts/use-media.ts";
import { useVirtual, type Virtual } from "../../parts/use-virtual.ts";
import { Announcer } from "./announcer.tsx";
import { eventIdsOf } from "./index-of.ts";
import { idOfLine, Line } from "./line.tsx";
import { addressedAs } from "./lines.ts";
import { type Cursor, useCursor } from "./use-cursor.ts";
import { useFollow } from "./use-follow.ts";

/** The height of a line, in pixels: one row of text, or two where there is little room. */
const LINE = 30;
const TALL_LINE = 52;

export interface TimelineProps {
  readonly lines: readonly TimelineEntry[];
  /** What is open, by its address; empty for nothing. */
  readonly open: string;
  readonly onOpen: (entry: TimelineEntry, by: "key" | "pointer") => void;
}

/** The entries, newest at the end. */
export function Timeline({ lines, open, onOpen }: TimelineProps) {
  const list = useRef<HTMLDivElement>(null);
  const size = useMedia("(max-width: 46rem)") ? TALL_LINE : LINE;
  const cursor = useCursor(lines);
  const virtual = useVirtual({ element: list, count: lines.length, size, keep: cursor.at });
  const height = virtual.scrollRect?.height ?? 0;
  const { following, follow, scrolled } = useFollow({ list, lines, size, height });
  const active = cursor.at === undefined ? undefined : lines[cursor.at];
  const press = (key: string): boolean => {
    const to = cursor.press(key, Math.max(1, Math.floor(height / size) - 1));
    if (to === undefined) return false;
    follow(to === lines.length - 1);
    virtual.scrollToIndex(to);
    return true;
  };
  useEffect(() => {
    // What was opened elsewhere, by its address or from the details, is shown here as well.
    const at = lines.findIndex((entry) => addressedAs(entry) === open);
    const entry = lines[at];
    if (entry === undefined || at === cursor.at) return;
    cursor.set(entry);
    follow(false);
    virtual.scrollToIndex(at);
  }, [open]);
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
      <div
        ref={list}
        class="timeline-list"
        role="listbox"
        tabIndex={0}
        aria-label="Timeline"
        aria-activedescendant={active && idOfLine(active)}
        onScroll={scrolled}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const opened = event.key === "Enter" && active !== undefined;
          if (opened) onOpen(active, "key");
          if (opened || press(event.key)) event.preventDefault();
        }}
      >
        <div
          role="presentation"
          class="timeline-all"
          style={{ height: `${lines.length * size}px` }}
        >
          <Lines {...{ virtual, lines, size, open, onOpen, cursor }} />
        </div>
      </div>
      {!following && (
        <button type="button" class="primary follow" onClick={() => follow(true)}>
          ↓ Follow the newest
        </button>
      )}
      <Announcer lines={lines} />
    </div>
  );
}

interface LinesProps extends TimelineProps {
  readonly virtual: Virtual;
  readonly size: number;
  readonly cursor: Cursor;
}

/** Those that are in sight. */
function Lines({ virtual, lines, size, open, onOpen, cursor }: LinesProps) {
  return virtual.getVirtualItems().map(({ index, start }) => {
    const entry = lines[index];
    return (
      entry && (
        <Line
          key={entry.seq}
          entry={entry}
          place={index}
          count={lines.length}
          top={start}
          height={size}
          isActive={index === cursor.at}
          isOpen={addressedAs(entry) === open}
          isRelated={eventIdsOf(entry).includes(open)}
          onClick={() => {
            cursor.set(entry);
            onOpen(entry, "pointer");
          }}
        />
      )
    );
  });
}
