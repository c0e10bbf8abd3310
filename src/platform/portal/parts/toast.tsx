import { signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);

/** What went well is gone after this time, in milliseconds; what went wrong stays until it is closed. */
const SHOWN_MS = 4_000;

let count = 0;

export function say(text: string, tone: Toast["tone"] = "good"): void {
  count += 1;
  const toast = { id: count, tone, text };
  toasts.value = [...toasts.value.slice(-3), toast];
  if (tone === "good") setTimeout(() => close(toast.id), SHOWN_MS);
}

/** Does something, says what came of it, and says why it could not be done. True when it was. */
export async function attempt(doIt: () => unknown, done?: string): Promise<boolean> {
  try {
    await doIt();
    if (done !== undefined) say(done);
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
    return false;
  }
}

function close(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** How many dialogs are open. Beside one nothing can be pressed or heard: it has the toasts in itself. */
export const dialogs = signal(0);

const roles = [
  ["good", "status"],
  ["bad", "alert"],
] as const;

/** What the page says by itself, also to those who hear it. */
export function Toasts({ inDialog = false }: { readonly inDialog?: boolean }) {
  if (!inDialog && dialogs.value > 0) return null;
  return (
    <div class="toasts">
      {roles.map(([tone, role]) => (
        <div key={role} role={role}>
          {toasts.value
            .filter((toast) => toast.tone === tone)
            .map((toast) => (
              <Line key={toast.id} {...toast} />
            ))}
        </div>
      ))}
    </div>
  );
}

function Line({ id, tone, text }: Toast) {
  return (
    <div class={`toast ${tone}`}>
      <p>{text}</p>
      <button
        type="button"
        class="quiet small"
        aria-label="Close this message"
        onClick={() => close(id)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
