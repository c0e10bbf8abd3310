import { signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);

/** Time after which a success toast closes, in ms. Error toasts stay open. */
const SHOWN_MS = 4_000;

const MAX_TOASTS = 4;

let count = 0;

export function say(text: string, tone: Toast["tone"] = "good"): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value, { id, tone, text }].slice(-MAX_TOASTS);
  if (tone === "good") setTimeout(() => close(id), SHOWN_MS);
}

/** Runs a task and shows a toast on success or failure. Resolves with true on success. */
export async function attempt(task: () => unknown, done?: string): Promise<boolean> {
  try {
    await task();
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

/** Number of open dialogs. An open dialog renders the toasts itself, because the rest of the page is inert. */
export const dialogs = signal(0);

export function Toasts({ inDialog = false }: { readonly inDialog?: boolean }) {
  if (!inDialog && dialogs.value > 0) return null;
  return (
    <div class="toasts">
      {(["good", "bad"] as const).map((tone) => (
        <div key={tone} role={tone === "good" ? "status" : "alert"}>
          {toasts.value
            .filter((toast) => toast.tone === tone)
            .map(({ id, text }) => (
              <div key={id} class={`toast ${tone}`}>
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
            ))}
        </div>
      ))}
    </div>
  );
}
