import type { ComponentChildren } from "preact";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { addressOf } from "../../live/route.ts";
import { useShownApp } from "../../live/shown-app.ts";
import { Badge } from "../../parts/bits.tsx";
import { ListCard } from "../../parts/card.tsx";
import { Fields } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { attempt } from "../../parts/toast.tsx";
import { trouble } from "../../shell/banner.tsx";
import { platformScenarios, type Situation } from "./platform.tsx";
import {
  changeOf,
  deliveries,
  endOf,
  fieldsOf,
  isActive,
  noFaults,
  requests,
  type Scenario,
} from "./scenarios.ts";

export function Faults() {
  const { app } = useShownApp();
  const live = trouble.value;
  const now = live.data;
  const stopAll = () => control.setFaults(noFaults);
  const startByKey = [...deliveries, ...requests].flatMap(({ key, title, change }) => {
    if (key === undefined || key === "f") return [];
    const run = () => void attempt(() => control.setFaults(change));
    return [{ key, label: title, group: "Faults", run }];
  });
  useKeys([
    ...startByKey,
    { key: "o", label: "Stop all faults", group: "Faults", run: () => void attempt(stopAll) },
  ]);
  const rowsOf = (scenarios: readonly Scenario[]) =>
    now && activeFirst(scenarios.map((each) => faultRow(each, isActive(each, now.faults))));
  return (
    <>
      <div class="head">
        <h1>Faults</h1>
        <Action shortcut="o" run={stopAll} done="Stopped all faults.">
          Stop all
        </Action>
      </div>
      <div class="columns">
        <ListCard title="Deliveries" live={live} rows={rowsOf(deliveries)} />
        <ListCard title="API" rows={rowsOf(requests)} />
        <ListCard title="Platform" rows={now && app && platformRows({ ...now, app })} />
      </div>
      <p>
        The clock and the limits are in <a href={addressOf("settings")}>Settings</a>.
      </p>
    </>
  );
}

function activeFirst<T extends { readonly active: boolean }>(rows: readonly T[]) {
  return rows.toSorted((a, b) => Number(b.active) - Number(a.active));
}

function faultRow(scenario: Scenario, active: boolean) {
  const { title, key } = scenario;
  return {
    key: title,
    active,
    text: (
      <Form
        keeps
        label={title}
        shortcut={key}
        submit={
          <>
            {active ? "Stop" : "Start"}
            <span class="visually-hidden"> {title}</span>
          </>
        }
        run={(values) => control.setFaults(active ? endOf(scenario) : changeOf(scenario, values))}
      >
        <Summary {...scenario} active={active}>
          <Fields of={fieldsOf(scenario)} />
        </Summary>
      </Form>
    ),
  };
}

function platformRows(now: Situation) {
  const rows = platformScenarios.map(
    ({ title, bot, start, stop, action = "Stop", confirm, ...scenario }) => {
      const active = scenario.isActive(now);
      const blocked = scenario.blocked?.(now);
      return {
        key: title,
        active,
        text: <Summary {...{ title, bot, active, blocked }} />,
        actions: (
          <Action
            tone={active ? undefined : confirm && "danger"}
            disabled={blocked !== undefined || (active && stop === undefined)}
            run={() => (active ? stop : start)?.(now)}
            confirm={active ? undefined : confirm}
          >
            {active && stop !== undefined ? action : "Start"}
            <span class="visually-hidden"> {title}</span>
          </Action>
        ),
      };
    },
  );
  return activeFirst(rows);
}

interface SummaryProps extends Pick<Scenario, "title" | "bot"> {
  readonly active: boolean;
  readonly blocked?: string | undefined;
  readonly children?: ComponentChildren;
}

function Summary({ title, bot, active, blocked, children }: SummaryProps) {
  return (
    <details class="grow">
      <summary>
        {title} {active && <Badge tone="warn">active</Badge>}
        {blocked !== undefined && <Badge>{blocked}</Badge>}
      </summary>
      <p class="hint">{bot}</p>
      {children}
    </details>
  );
}
