import { useId } from "preact/hooks";
import { bot, person, type Theme, theme } from "../live/settings.ts";
import { lookAt, useShownApp } from "../live/shown-app.tsx";
import { connection } from "../live/stream.ts";
import { usePeople } from "../live/use-people.ts";
import { Badge } from "../parts/bits.tsx";

/** Which bot is looked at, who speaks, and how the webhook is. */
export function TopBar({ onKeys }: { readonly onKeys: () => void }) {
  const { apps, app: shown } = useShownApp();
  const { people } = usePeople();
  const list = apps ?? [];
  // A bot that is gone, after a reset or a restore: the first one is looked at.
  if (apps !== undefined && bot.value !== "" && shown?.bot.username !== bot.value) bot.value = "";
  return (
    <header class="top">
      <a class="brand" href="#/chat" aria-label="service-bot">
        <img src="/portal/icon.svg" alt="" width="24" height="24" /> <span>service-bot</span>
      </a>
      <Choice
        label="Bot"
        value={shown?.bot.username ?? ""}
        onChange={(name) => lookAt(name, list)}
        names={list.map((app) => app.bot.username)}
      />
      <Choice
        label="You are"
        value={person.value}
        onChange={(name) => {
          person.value = name;
        }}
        names={names(people.map(({ username }) => username))}
      />
      <span class="top-space" />
      {shown !== undefined && (
        <a class="plain" href="#/webhook">
          {shown.disabled ? (
            <Badge tone="bad">app disabled</Badge>
          ) : (
            <Badge tone={shown.webhook.enabled ? "good" : "warn"}>
              webhook {shown.webhook.enabled ? "on" : "off"}
            </Badge>
          )}
        </a>
      )}
      <Badge tone={connection.value === "open" ? "good" : "warn"}>
        {connection.value === "open" ? "live" : connection.value}
      </Badge>
      <ThemeChoice />
      <button type="button" class="quiet" onClick={onKeys} aria-keyshortcuts="?">
        Keys <kbd>?</kbd>
      </button>
    </header>
  );
}

/** Whoever speaks is in the list, also before they exist: they are made on first use. */
function names(known: readonly string[]): readonly string[] {
  return [...new Set([...known, person.value])];
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly onChange: (name: string) => void;
}

function Choice({ label, value, names: all, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {all.map((name) => (
          <option key={name} value={name}>
            @{name}
          </option>
        ))}
      </select>
    </div>
  );
}

const next: Readonly<Record<Theme, Theme>> = { auto: "light", light: "dark", dark: "auto" };

function ThemeChoice() {
  return (
    <button
      type="button"
      class="quiet"
      title="Light, dark, or as the system has it"
      onClick={() => {
        theme.value = next[theme.value];
      }}
    >
      Theme: {theme.value}
    </button>
  );
}
