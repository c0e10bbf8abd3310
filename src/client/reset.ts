import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Resets an aborted request's connection. After a normal close, the operating system keeps unacknowledged data and
 * delivers it once a broken network is back.
 */

/** Connection used by one `fetch` call. `undefined` until the request is sent. */
interface Carrier {
  socket: Socket | undefined;
}

const carriers = new AsyncLocalStorage<Carrier>();
const carrierOf = new WeakMap<object, Carrier>();

// `fetch` hides its connections, but Node publishes them on these channels.
subscribe("undici:request:create", (message) => {
  const { request } = message as { readonly request: object };
  const carrier = carriers.getStore();
  if (carrier !== undefined) carrierOf.set(request, carrier);
});
subscribe("undici:client:sendHeaders", (message) => {
  const { request, socket } = message as { readonly request: object; readonly socket: Socket };
  const carrier = carrierOf.get(request);
  if (carrier !== undefined) carrier.socket = socket;
});

/**
 * Calls `fetch`, and resets the connection if the signal aborts before a response arrives. The operating system then
 * discards undelivered data. Has no effect on a request that bypasses the global `fetch`.
 *
 * @param send passes the signal to `fetch`
 */
export async function resetOnAbort<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  const carrier: Carrier = { socket: undefined };
  const abort = () => {
    if (carrier.socket !== undefined) reset(carrier.socket);
  };
  // Runs before the listener of `fetch` itself, which closes the connection normally.
  signal.addEventListener("abort", abort);
  try {
    return await carriers.run(carrier, send);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) {
    closeByReset(socket);
    socket.destroy();
  } else if (socket.remoteFamily !== undefined) {
    // A pipe has no address family and cannot be reset.
    socket.resetAndDestroy();
  }
}

/** The TCP connection below TLS. Node has no public API for it. */
interface TcpHandle {
  reset?(done: () => void): number;
  close(done: () => void): void;
}

/** Makes a TLS connection send a reset when it closes. */
function closeByReset(socket: TLSSocket): void {
  const { _handle: handle } = socket as { _handle?: { readonly _parent?: TcpHandle } | null };
  const tcp = handle?._parent;
  if (tcp?.reset === undefined) return;
  const close = tcp.close.bind(tcp);
  tcp.close = (done) => {
    if (tcp.reset?.(done) !== 0) close(done);
  };
}
