import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { go, route } from "../../live/route.ts";
import { Empty, Time } from "../../parts/bits.tsx";
import { List } from "../../parts/list.tsx";
import { Filters } from "./filters.tsx";
import { Row } from "./row.tsx";
import { overview, showAll, visibleThings } from "./store.ts";
import { entryOf, idOf, type Thing } from "./stories.ts";
import { Trace } from "./trace.tsx";

const PAGE = 100;

export function Events() {
  const { id } = route.value;
  const things = visibleThings.value;
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
      {things.length > 0 && <Rows things={things} open={id} />}
      <Nothing />
    </>
  );
}

function Rows({ things, open }: { readonly things: readonly Thing[]; readonly open: string }) {
  const list = useRef<HTMLUListElement>(null);
  const [limit, setLimit] = useState(PAGE);
  const at = open === "" ? -1 : things.findIndex((thing) => idOf(thing) === open);
  const count = Math.max(limit, at + 1);
  useEffect(() => {
    list.current?.querySelector("li.open")?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const step = (by: number) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>(".event-row") ?? [])];
    const from = rows.findIndex((row) => row.contains(document.activeElement));
    (rows[from + by] ?? rows[from] ?? rows[0])?.focus();
  };
  const close = () => {
    list.current?.querySelector<HTMLElement>("li.open > button")?.focus();
    go("events");
  };
  const group = "Events";
  useKeys([
    { key: "j", label: "Next event", group, run: () => step(1) },
    { key: "k", label: "Previous event", group, run: () => step(-1) },
    ...(open === "" ? [] : [{ key: "Escape", label: "Close the event", group, run: close }]),
  ]);
  return (
    <List
      element={list}
      look="event-list"
      label="Events"
      items={things
        .slice(0, count)
        .map((thing, index) => (
          <Row key={entryOf(thing).seq} thing={thing} isOpen={index === at} />
        ))}
      more={things.length > count ? () => setLimit(count + PAGE) : undefined}
      moreLabel={`Show older (${things.length - count})`}
    />
  );
}

function IdleLine() {
  const { idle } = overview.value;
  if (idle === undefined) return null;
  return (
    <p class="hint">
      Polling: {idle.count} {idle.count === 1 ? "request" : "requests"} found nothing new, the last{" "}
      <Time at={idle.lastAt} />.
    </p>
  );
}

function Nothing() {
  const { things, stories } = overview.value;
  if (stories.size > 0 && visibleThings.value.length > 0) return null;
  if (things.length > 0 && visibleThings.value.length === 0) {
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
