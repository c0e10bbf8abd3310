import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { machineOffset } from "../../live/second.ts";
import type { Pages } from "../../live/use-pages.ts";
import { Failure, Time, Until } from "../../parts/bits.tsx";
import { Card } from "../../parts/card.tsx";
import { FireNow, StateItem, TimerItems, useCrons, useStates, useTimers } from "./lists.tsx";

export function State() {
  const crons = useCrons();
  const { data, error, reload } = crons;
  return (
    <>
      <h1>State</h1>
      {data === undefined && error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && (
        <>
          <Crons crons={crons} />
          <Timers />
          <States />
        </>
      )}
    </>
  );
}

function Crons({ crons }: { readonly crons: ReturnType<typeof useCrons> }) {
  return (
    <Section
      title="Cron"
      list={crons}
      empty="No crons. Use bot.cron to run a handler on a schedule."
    >
      {crons.data?.map(({ name, pattern, timeZone, nextAt, last }) => (
        <li key={name}>
          <div class="grow">
            <strong>{name}</strong> <code>{pattern}</code> <span class="hint">{timeZone}</span>
            <p class="hint">
              next {nextAt === null ? "never" : <Until at={nextAt} by={machineOffset} />}
              {last !== null && (
                <>
                  , last <Time at={last.at} by={machineOffset} />{" "}
                  <span class={last.state === "dead" ? "bad" : ""}>{outcomes[last.state]}</span>
                </>
              )}
            </p>
          </div>
          <FireNow name={name} fire={() => control.inbox.fireCron(name)} />
        </li>
      ))}
    </Section>
  );
}

const outcomes = {
  pending: "being handled",
  done: "done",
  dead: "dead letter",
  discarded: "discarded",
} as const;

function Timers() {
  const timers = useTimers();
  return (
    <Section
      title="Timers"
      list={timers}
      empty="No timers. Set a timer with ctx.later, and handle it with bot.onTimer."
    >
      <TimerItems timers={timers.data ?? []} />
    </Section>
  );
}

function States() {
  const [prefix, setPrefix] = useState("");
  const states = useStates(prefix);
  const isSearch = prefix !== "";
  const search = (
    <input
      type="search"
      aria-label="Search states"
      placeholder="Beginning of the key"
      value={prefix}
      onInput={({ currentTarget }) => setPrefix(currentTarget.value)}
    />
  );
  return (
    <Section
      title="States"
      list={states}
      empty={
        isSearch
          ? "No key begins with this text."
          : "No states. Store values for a conversation with ctx.state()."
      }
      head={(isSearch || states.data?.length !== 0) && search}
    >
      {states.data?.map((state) => (
        <StateItem key={state.key} state={state} />
      ))}
    </Section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly list: Pages<unknown>;
  readonly empty: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Section({ title, list, empty, head, children }: SectionProps) {
  const { data, more, loadMore } = list;
  return (
    <Card title={title} head={head} live={list}>
      {data?.length === 0 ? <p class="hint">{empty}</p> : <ul class="list">{children}</ul>}
      {more && (
        <button type="button" onClick={() => void loadMore()}>
          Show more
        </button>
      )}
    </Card>
  );
}
