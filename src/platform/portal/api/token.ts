const KEY = "service-bot-portal-token";

const given = fromAddress();

/**
 * The token of this run of the platform. A page of this machine has it in its head; one that is opened from elsewhere gets
 * it with the address that the platform has printed, and keeps it for as long as its tab is open.
 */
let current = inHead(document) ?? given ?? sessionStorage.getItem(KEY) ?? "";

// An address with another one that is opened in the same tab loads nothing anew.
addEventListener("hashchange", () => {
  current = fromAddress() ?? current;
});

export function token(): string {
  return current;
}

/** Takes the token of another run, where the platform was started again: a page of this machine is told it. */
export async function renewToken(): Promise<void> {
  try {
    const response = await fetch("/", { headers: { Accept: "text/html" }, cache: "no-store" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    current = inHead(page) ?? current;
  } catch {
    // It does not answer yet.
  }
}

function inHead(page: Document): string | undefined {
  const meta = page.querySelector<HTMLMetaElement>('meta[name="portal-token"]');
  return meta?.content || undefined;
}

function fromAddress(): string | undefined {
  const found = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (found === undefined) return undefined;
  sessionStorage.setItem(KEY, found);
  // It is not to stand in the address bar, where it is copied with the rest.
  history.replaceState(null, "", location.pathname);
  return found;
}
