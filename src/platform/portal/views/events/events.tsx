import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { go, route } from "../../live/route.ts";
import { Empty } from "../../parts/bits.tsx";
import { Filters } from "./filters.tsx";
import { IdleLine, Row } from "./row.tsx";
import { overview, showAll, shown } from "./store.ts";
import type { Thing } from "./stories.ts";
import { Trace } from "./trace.tsx";

/** Rows that are shown at first, and that "Show older" adds. */
const PAGE = 100;

/** Every event with what became of it, the newest first. */
export function Events() {
  const { id } = route.value;
  const things = shown.value;
  const isListed = things.some((thing) => idOf(thing) === id);
  return (
    <>
      <h1>Events</h1>
      <Filters />
      {id !== "" && !isListed && (
        <section class="card" aria-label={`Event ${id}`}>
          <div class="head">
            <h2 class="mono">{id}</h2>
            <a href="#/events">Close</a>
          </div>
          <Trace id={id} />
        </section>
      )}
      <IdleLine />
      {things.length > 0 && <List things={things} open={id} />}
      <Nothing />
    </>
  );
}

function List({ things, open }: { readonly things: readonly Thing[]; readonly open: string }) {
  const list = useRef<HTMLOListElement>(null);
  const [limit, setLimit] = useState(PAGE);
  const at = things.findIndex((thing) => idOf(thing) === open);
  const count = Math.max(limit, at + 1);
  useEffect(() => {
    if (open === "") return;
    document.getElementById(`row-${open}`)?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const rows = () => [...(list.current?.querySelectorAll<HTMLElement>("button.event-row") ?? [])];
  const step = (by: number) => {
    const all = rows();
    const from = all.findIndex((row) => row.contains(document.activeElement));
    (all[from + by] ?? all[from] ?? all[0])?.focus();
  };
  const close = () => {
    document.querySelector<HTMLElement>(`#row-${CSS.escape(open)} button`)?.focus();
    go("events");
  };
  const group = "Events";
  useKeys([
    { key: "j", label: "Next event", group, run: () => step(1) },
    { key: "k", label: "Previous event", group, run: () => step(-1) },
    ...(open === "" ? [] : [{ key: "Escape", label: "Close the event", group, run: close }]),
  ]);
  return (
    <>
      <ol ref={list} class="event-list" aria-label="Events">
        {things.slice(0, count).map((thing) => (
          <Row key={keyOf(thing)} thing={thing} isOpen={open !== "" && idOf(thing) === open} />
        ))}
      </ol>
      {things.length > count && (
        <button type="button" onClick={() => setLimit(count + PAGE)}>
          Show older ({things.length - count})
        </button>
      )}
    </>
  );
}

function idOf(thing: Thing): string {
  if (thing.kind === "event") return thing.event.id;
  return thing.kind === "calls" ? thing.call.id : "";
}

function keyOf(thing: Thing): number {
  if (thing.kind === "event") return thing.event.seq;
  return thing.kind === "calls" ? thing.call.seq : thing.entry.seq;
}

function Nothing() {
  const { things, stories } = overview.value;
  if (stories.size > 0 && shown.value.length > 0) return null;
  if (things.length > 0 && shown.value.length === 0) {
    return (
      <Empty title="No matching events">
        <button type="button" onClick={showAll}>
          Clear filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No events yet">
      <p>
        Write to the bot in <a href="#/chat">Chat</a>
        <span class="by-key">
          , or press <kbd>d</kbd> to send it a direct message
        </span>
        .
      </p>
    </Empty>
  );
}
