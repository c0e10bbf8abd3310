import * as z from "../../core/zod.ts";
import {
  type ClockSetting,
  LAST_TIME,
  MACHINE_TIME,
  type PlatformClock,
} from "../clock/platform-clock.ts";
import type { Limits } from "../limits/limits.ts";
import { eachLimit, type LimitSettings, MAX_LIMIT, NO_LIMITS } from "../limits/settings.ts";
import type { Store } from "../store/store.ts";
import type { Uploads } from "../uploads/uploads.ts";

const limit = z.int().min(0).max(MAX_LIMIT).nullable().catch(null);

// What cannot be read counts as never set: a state file may come from anywhere.
const limits: z.ZodType<LimitSettings> = z.object(eachLimit(limit)).catch(NO_LIMITS);

const storage: z.ZodType<{ configured: boolean }> = z
  .object({ configured: z.boolean() })
  .catch({ configured: true });

const clock: z.ZodType<ClockSetting> = z
  .object({
    offsetMs: z.number().min(-LAST_TIME).max(LAST_TIME),
    frozenAt: z.number().min(0).max(LAST_TIME).nullable(),
  })
  .catch(MACHINE_TIME);

export interface KeptSettingsOptions {
  readonly store: Store;
  readonly limits: Limits;
  readonly uploads: Uploads;
  readonly clock: PlatformClock;
}

/** What is set while the platform runs, and goes with its state: limits, storage, the clock. */
export class KeptSettings {
  readonly #options: KeptSettingsOptions;

  constructor(options: KeptSettingsOptions) {
    this.#options = options;
  }

  /** Keeps what is set now. */
  save(): void {
    const { store, ...parts } = this.#options;
    const { settings } = store;
    store.transaction(() => {
      settings.put("limits", parts.limits.settings);
      settings.put("storage", { configured: parts.uploads.configured });
      settings.put("clock", parts.clock.setting);
    });
  }

  /** Sets what was kept. Limits that are `given` come before those. The clock comes last: it wakes others. */
  load(given: Partial<LimitSettings> = {}): void {
    const { store, ...parts } = this.#options;
    const { settings } = store;
    parts.limits.reset({ ...limits.parse(settings.get("limits")), ...given });
    parts.uploads.configured = storage.parse(settings.get("storage")).configured;
    parts.clock.set(clock.parse(settings.get("clock")));
  }
}
