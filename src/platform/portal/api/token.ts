const KEY = "service-bot-portal-token";

/**
 * The token of this run of the platform. A page of this machine has it in its head; one that is opened from elsewhere gets
 * it with the address that the platform has printed, and keeps it for as long as its tab is open.
 */
export const token: string = fromHead() ?? fromAddress() ?? sessionStorage.getItem(KEY) ?? "";

function fromHead(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="portal-token"]');
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
