import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import type { Pages } from "../../live/use-pages.ts";
import { Empty, Failure, Time, Until } from "../../parts/bits.tsx";
import { Card } from "../../parts/card.tsx";
import { FireNow, StateItem, TimerItem, useCrons, useStates, useTimers } from "./lists.tsx";

/** States, timers and cron patterns of the bot. */
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
    <Section title="Cron" list={crons} begin="bot.cron runs a handler at each moment of a pattern.">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Pattern</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {crons.data?.map(({ name, pattern, timeZone, nextAt, last }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <code>{pattern}</code> <span class="hint">{timeZone}</span>
              </td>
              <td>{nextAt === null ? "never" : <Until at={nextAt} />}</td>
              <td>
                {last === null ? (
                  <span class="hint">none</span>
                ) : (
                  <>
                    <Time at={last.at} />{" "}
                    <span class={last.state === "dead" ? "bad" : "hint"}>
                      {outcomes[last.state]}
                    </span>
                  </>
                )}
              </td>
              <td>
                <FireNow name={name} fire={() => control.fireCron(name)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
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
    <Section title="Timers" list={timers} begin="ctx.later sets a timer, bot.onTimer handles it.">
      <ul class="list">
        {timers.data?.map((timer) => (
          <TimerItem key={`${timer.lane} ${timer.name} ${timer.key}`} timer={timer} />
        ))}
      </ul>
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
      begin={
        isSearch ? "No key begins with this text." : "ctx.state() keeps values of a conversation."
      }
      head={(isSearch || states.data?.length !== 0) && search}
    >
      <ul class="list">
        {states.data?.map((state) => (
          <StateItem key={state.key} state={state} />
        ))}
      </ul>
    </Section>
  );
}

interface SectionProps {
  readonly title: string;
  readonly list: Pages<unknown>;
  /** Text in the place of an empty list. */
  readonly begin: string;
  readonly head?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Section({ title, list, begin, head, children }: SectionProps) {
  const { data, more, loadMore } = list;
  return (
    <Card title={title} head={head} live={list}>
      {data?.length === 0 ? <Empty title={`No ${title.toLowerCase()}`}>{begin}</Empty> : children}
      {more && (
        <button type="button" onClick={() => void loadMore()}>
          Show more
        </button>
      )}
    </Card>
  );
}
