import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Code } from "./bits.tsx";
import { useCopy } from "./copy-text.tsx";
import { Dialog } from "./dialog.tsx";
import { Action } from "./form.tsx";

interface Secret {
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  readonly note: ComponentChildren;
}

const visibleSecret = signal<Secret>();

export function showSecret(secret: Secret): void {
  visibleSecret.value = secret;
}

export function SecretDialog() {
  const { copy, byHand } = useCopy(".env lines");
  if (visibleSecret.value === undefined) return null;
  const { title, env, note } = visibleSecret.value;
  const lines = Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  const close = () => {
    visibleSecret.value = undefined;
  };
  return (
    <Dialog title={title} onClose={close} firm>
      <p>
        <strong>This is shown only once.</strong> Copy it to the bot's <code>.env</code> file now.
      </p>
      <Code label="Lines for the bot's .env" text={lines} />
      <div class="row">
        <Action tone="primary" run={() => copy(lines, "Copied the .env lines.")}>
          Copy
        </Action>
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
      <div class="dialog-notes">{note}</div>
      {byHand}
    </Dialog>
  );
}
