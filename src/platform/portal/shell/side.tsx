import { addressOf, title, type View, views } from "../live/route.ts";
import { bot, person, type Theme, theme } from "../live/settings.ts";
import { lookAt, useShownApp } from "../live/shown-app.ts";
import { connection } from "../live/stream.ts";
import { usePeople } from "../live/use-people.ts";
import { Field } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { failedCount } from "../views/events/store.ts";

export interface SideProps {
  readonly current: View;
  readonly onKeys: () => void;
}

export function Side({ current, onKeys }: SideProps) {
  const failed = failedCount.value;
  return (
    <header class="side">
      <a class="brand" href="#/chat">
        <img src="/portal/icon.svg" alt="" width="22" height="22" /> service-bot
      </a>
      <nav aria-label="Views">
        {views.map((view, index) => (
          <a
            key={view}
            href={addressOf(view)}
            aria-current={view === current ? "page" : undefined}
            aria-keyshortcuts={String(index + 1)}
          >
            <Icon name={view} />
            {title(view)}
            {view === "events" && failed > 0 && (
              <span class="badge bad">
                {failed}
                <span class="visually-hidden"> failed</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="side-foot">
        <Choices />
        <div class="row">
          <span class={`live grow ${connection.value === "open" ? "hint" : "bad"}`}>
            {connection.value === "open" ? "live" : connection.value}
          </span>
          <ThemeButton />
          <button
            type="button"
            class="quiet small"
            aria-label="Keys"
            title="Keys (?)"
            aria-keyshortcuts="?"
            onClick={onKeys}
          >
            <Icon name="keys" />
          </button>
        </div>
      </div>
    </header>
  );
}

export function Choices() {
  const { apps = [], app } = useShownApp();
  const { people } = usePeople();
  // A reset or restore may remove the selected bot.
  if (apps.length > 0 && bot.value !== "" && app?.bot.username !== bot.value) bot.value = "";
  // Include the selected user, who may not exist before their first action.
  const names = new Set([...people.map(({ username }) => username), person.value]);
  return (
    <>
      {apps.length > 1 && (
        <Field
          name="bot"
          label="Bot"
          kind="select"
          value={app?.bot.username ?? ""}
          options={optionsOf(apps.map((each) => each.bot.username))}
          onValue={(name) => lookAt(name, apps)}
        />
      )}
      <Field
        name="person"
        label="You are"
        kind="select"
        value={person.value}
        options={optionsOf([...names])}
        onValue={(name) => {
          person.value = name;
        }}
      />
    </>
  );
}

function optionsOf(names: readonly string[]) {
  return names.map((value) => ({ value, label: `@${value}` }));
}

const next: Readonly<Record<Theme, Theme>> = { auto: "light", light: "dark", dark: "auto" };

export function ThemeButton() {
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={`Theme: ${theme.value}`}
      title={`Theme: ${theme.value}`}
      onClick={() => {
        theme.value = next[theme.value];
      }}
    >
      <Icon name={theme.value} />
    </button>
  );
}
