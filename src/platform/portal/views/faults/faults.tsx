import type { ComponentChildren, VNode } from "preact";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { addressOf } from "../../live/route.ts";
import { useShownApp } from "../../live/shown-app.ts";
import { Badge } from "../../parts/bits.tsx";
import { ListCard } from "../../parts/card.tsx";
import { Fields } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { Item } from "../../parts/list.tsx";
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
  const itemsOf = (scenarios: readonly Scenario[]) =>
    now && activeFirst(scenarios, (each) => isActive(each, now.faults), faultItem);
  return (
    <>
      <div class="head">
        <h1>Faults</h1>
        <Action shortcut="o" run={stopAll} done="Stopped all faults.">
          Stop all
        </Action>
      </div>
      <div class="columns">
        <ListCard title="Deliveries" live={live} items={itemsOf(deliveries)} />
        <ListCard title="API" items={itemsOf(requests)} />
        <ListCard title="Platform" items={now && app && platformItems({ ...now, app })} />
      </div>
      <p>
        The clock and the limits are in <a href={addressOf("settings")}>Settings</a>.
      </p>
    </>
  );
}

/** Renders the active scenarios before the others. */
function activeFirst<T>(
  scenarios: readonly T[],
  isActiveNow: (scenario: T) => boolean,
  render: (scenario: T, active: boolean) => VNode,
): readonly VNode[] {
  const { active = [], idle = [] } = Object.groupBy(scenarios, (each) =>
    isActiveNow(each) ? "active" : "idle",
  );
  return [...active.map((each) => render(each, true)), ...idle.map((each) => render(each, false))];
}

function faultItem(scenario: Scenario, active: boolean) {
  const { title, key, bot } = scenario;
  return (
    <Item key={title}>
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
        <Summary title={title} bot={bot} active={active}>
          <Fields of={fieldsOf(scenario)} />
        </Summary>
      </Form>
    </Item>
  );
}

function platformItems(now: Situation) {
  return activeFirst(
    platformScenarios,
    (each) => each.isActive(now),
    ({ title, bot, start, stop, action = "Stop", confirm, blocked }, active) => {
      const obstacle = blocked?.(now);
      const button = (
        <Action
          tone={active ? undefined : confirm && "danger"}
          disabled={obstacle !== undefined || (active && stop === undefined)}
          run={() => (active ? stop : start)?.(now)}
          confirm={active ? undefined : confirm}
        >
          {active && stop !== undefined ? action : "Start"}
          <span class="visually-hidden"> {title}</span>
        </Action>
      );
      return (
        <Item key={title} actions={button}>
          <Summary title={title} bot={bot} active={active} blocked={obstacle} />
        </Item>
      );
    },
  );
}

interface SummaryProps extends Pick<Scenario, "title" | "bot"> {
  readonly active: boolean;
  /** Why the scenario cannot start. */
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
