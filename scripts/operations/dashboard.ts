import { type Panel, rows } from "./panels.ts";

const COLUMNS = 24;

const datasource = { type: "prometheus", uid: `\${datasource}` };

/** Returns the Grafana dashboard as JSON. It is built into the package, not committed. */
export function grafanaDashboard(): string {
  return `${JSON.stringify({ ...settings, panels: laidOut() }, null, 2)}\n`;
}

const settings = {
  title: "service-bot",
  uid: "service-bot",
  tags: ["service-bot"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  time: { from: "now-6h", to: "now" },
  refresh: "30s",
  timezone: "browser",
  templating: {
    list: [
      {
        name: "datasource",
        label: "Data source",
        type: "datasource",
        query: "prometheus",
        current: {},
      },
      variable("job", "Job", "label_values(service_bot_build_info, job)"),
      variable(
        "instance",
        "Instance",
        'label_values(service_bot_build_info{job=~"$job"}, instance)',
      ),
    ],
  },
  annotations: {
    list: [
      {
        name: "Alerts",
        datasource,
        enable: true,
        iconColor: "red",
        expr: 'ALERTS{alertname=~"ServiceBot.*", alertstate="firing"}',
        titleFormat: "{{alertname}}",
      },
    ],
  },
};

/** A selection of several values of a label. */
function variable(name: string, label: string, definition: string): object {
  return {
    name,
    label,
    type: "query",
    datasource,
    query: { query: definition, refId: name },
    definition,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
    sort: 1,
  };
}

/** Places the panels of each row from left to right, below its title. */
function laidOut(): object[] {
  const all: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    const gridPos = { h: 1, w: COLUMNS, x: 0, y };
    all.push({ id: all.length + 1, type: "row", title, collapsed: false, gridPos, panels: [] });
    y += 1;
    let x = 0;
    for (const panel of panels) {
      const [w, h] = panel.size ?? (panel.stat === undefined ? [8, 8] : [4, 4]);
      all.push(panelJson(panel, all.length + 1, { h, w, x, y }));
      x = (x + w) % COLUMNS;
      if (x === 0) y += h;
    }
  }
  return all;
}

function panelJson(panel: Panel, id: number, gridPos: object): object {
  const { title, description, unit, shows, stat } = panel;
  const own = stat === undefined ? timeSeries(panel) : statOf(stat);
  return {
    id,
    type: stat === undefined ? "timeseries" : "stat",
    title,
    description,
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit, ...own.defaults }, overrides: [] },
    options: own.options,
    targets: Object.entries(shows).map(([legendFormat, expr], nth) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + nth),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

interface Look {
  readonly defaults: object;
  readonly options: object;
}

function timeSeries({ isStacked = false, mayBeNegative = false }: Panel): Look {
  const stacking = isStacked ? { stacking: { mode: "normal", group: "A" } } : {};
  return {
    defaults: {
      custom: { fillOpacity: 10, showPoints: "never", spanNulls: false, ...stacking },
      ...(mayBeNegative ? {} : { min: 0 }),
    },
    options: {
      legend: { displayMode: "list", placement: "bottom" },
      tooltip: { mode: "multi", sort: "desc" },
    },
  };
}

function statOf({
  colour = "green",
  above,
  text = "auto",
  names,
}: NonNullable<Panel["stat"]>): Look {
  const steps = [{ color: colour, value: null }, ...(above ? [above] : [])];
  const options = names && Object.fromEntries(names.map((name, nth) => [nth, { text: name }]));
  return {
    defaults: {
      thresholds: { mode: "absolute", steps },
      ...(options && { mappings: [{ type: "value", options }] }),
    },
    options: {
      reduceOptions: { calcs: ["lastNotNull"] },
      colorMode: "background",
      textMode: text,
    },
  };
}
