import type { IncomingMessage } from "node:http";
import type { Response } from "express";
import { asBuffer } from "../../core/bytes.ts";
import { invalid, PlatformError } from "../error.ts";
import { readBytes } from "../http/body.ts";
import { isSqlite, SQLITE_TYPE } from "../http/guard.ts";
import { parameter, text } from "../http/query.ts";
import { snapshotLimit } from "./body-limits.ts";
import type { Control } from "./control.ts";
import { bodyOf, type Endpoints, optionalBodyOf } from "./endpoint.ts";
import { clockBody, noBody, snapshotBody } from "./schemas.ts";

/** The clock, snapshots and the reset, over HTTP. */
export function stateEndpoints(control: Control): Endpoints {
  const { clock, snapshots } = control;
  return {
    "/clock": {
      get: () => clock.view,
      put: async (request) => clock.set(await bodyOf(request, clockBody)),
    },
    "/snapshots": {
      get: () => ({ items: snapshots.list() }),
      post: async (request) => snapshots.take((await optionalBodyOf(request, snapshotBody)).name),
    },
    "/snapshots/file": {
      post: async (request) => {
        const name = text(request.query, "name");
        return snapshots.upload(await readFile(request), name);
      },
    },
    "/snapshots/:id": {
      delete: (request) => {
        snapshots.remove(parameter(request, "id"));
        return { items: snapshots.list() };
      },
    },
    "/snapshots/:id/file": {
      get: (request, response) => sendFile(response, control, parameter(request, "id")),
    },
    "/snapshots/:id/restore": {
      postStatus: 200,
      post: async (request) => {
        await optionalBodyOf(request, noBody);
        snapshots.restore(parameter(request, "id"));
        return control.state();
      },
    },
    "/reset": {
      postStatus: 200,
      post: async (request) => {
        await optionalBodyOf(request, noBody);
        control.reset();
        return control.state();
      },
    },
  };
}

async function readFile(request: IncomingMessage): Promise<Uint8Array> {
  if (!isSqlite(request)) {
    request.resume();
    throw new PlatformError(
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      `Send the file's bytes with Content-Type: ${SQLITE_TYPE}.`,
    );
  }
  const bytes = await readBytes(request, snapshotLimit);
  if (bytes.byteLength === 0) throw invalid("The body is empty: send the bytes of a snapshot.");
  return bytes;
}

function sendFile(response: Response, { snapshots }: Control, id: string): void {
  const file = snapshots.file(id);
  response.set({
    "Content-Type": SQLITE_TYPE,
    "Content-Disposition": `attachment; filename="${id}.db"`,
  });
  response.send(asBuffer(file));
}
