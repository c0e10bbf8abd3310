import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Resets a connection, so that the operating system discards undelivered data. After a normal close, the operating
 * system keeps unacknowledged data and delivers it once a broken network is back.
 */
export function resetConnection(socket: Socket): void {
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
