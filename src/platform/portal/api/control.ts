import type {
  ActInput,
  ActResult,
  AppView,
  Block,
  BotView,
  CallRecord,
  ClockChange,
  ClockView,
  ControlComment,
  ControlConversation,
  ControlPost,
  CronView,
  DeliverResult,
  DeliveryRecord,
  EventTrace,
  FaultsChange,
  FaultsState,
  InboxDecision,
  InboxView,
  IssuedToken,
  LimitSettings,
  LimitsView,
  MessageView,
  NewApp,
  NotificationView,
  Page,
  PlatformState,
  Profile,
  Scope,
  SnapshotView,
  StateView,
  StorageState,
  TimersToFire,
  TimerView,
  TokenView,
  UploadView,
  WebhookChange,
  WebhookView,
} from "../../types.ts";
import { bot } from "../live/settings.ts";
import { download, request } from "./request.ts";

type Items<T> = { readonly items: readonly T[] };

export type Delivery = { readonly eventIds: readonly string[] } | { readonly body: string };

const ofBot = (of = bot.peek()) => ({ bot: of || undefined });
const part = encodeURIComponent;

/** Client for the control API (docs/reference/local-platform.md). Every method throws a ControlError. */
export const control = {
  state: () => request<PlatformState>("GET", "/state", { query: ofBot() }),
  people: () => request<Items<Profile>>("GET", "/people"),
  createPerson: (json: { username: string; name?: string }) =>
    request<Profile>("POST", "/people", { json }),
  act: (json: ActInput) => request<ActResult>("POST", "/act", { json }),
  uploadImage: (bytes: Blob, from: string) =>
    request<UploadView>("POST", "/images", { query: { from }, bytes }),

  conversationsOf: (of: string) =>
    request<Page<ControlConversation>>("GET", "/conversations", { query: { of, limit: 50 } }),
  conversations: (cursor?: string) =>
    request<Page<ControlConversation>>("GET", "/conversations", { query: { limit: 50, cursor } }),
  messages: (id: string, query: { limit: number; before?: string }) =>
    request<Items<MessageView> & { more: boolean }>("GET", `/conversations/${part(id)}/messages`, {
      query,
    }),
  deleteMessage: (id: string) => request<MessageView>("DELETE", `/messages/${part(id)}`),
  createGroup: (json: { members: string[]; text?: string }) =>
    request<{ conversationId: string }>("POST", "/groups", { json }),
  blocks: () => request<Items<Block>>("GET", "/blocks"),
  setBlock: (json: { by: string; whom?: string; blocked?: boolean }) =>
    request<Items<Block>>("PUT", "/blocks", { json }),

  posts: (cursor?: string) =>
    request<Page<ControlPost>>("GET", "/posts", { query: { limit: 20, cursor } }),
  post: (id: string) => request<ControlPost>("GET", `/posts/${part(id)}`),
  comments: (postId: string) =>
    request<Items<ControlComment>>("GET", `/posts/${part(postId)}/comments`),

  /** @param of username of the bot, required only for a timer or cron event */
  event: (id: string, of?: string) =>
    request<EventTrace>("GET", `/events/${part(id)}`, { query: { bot: of } }),
  delivery: (id: string) => request<DeliveryRecord>("GET", `/deliveries/${part(id)}`),
  call: (id: string) => request<CallRecord>("GET", `/calls/${part(id)}`),
  deliver: (json: Delivery & { times?: number }, of?: string) =>
    request<{ deliveries: readonly DeliverResult[] }>("POST", "/deliveries", {
      query: ofBot(of),
      json,
    }),
  curl: (json: Delivery, of?: string) =>
    request<{ command: string; expiresAt: string }>("POST", "/deliveries/curl", {
      query: ofBot(of),
      json,
    }),

  apps: () => request<Items<AppView>>("GET", "/apps"),
  createApp: (json: { username: string; name?: string }) =>
    request<NewApp>("POST", "/apps", { json }),
  setApp: (username: string, json: { disabled: boolean }) =>
    request<AppView>("PUT", `/apps/${part(username)}`, { json }),
  tokens: () => request<Items<TokenView>>("GET", "/tokens", { query: ofBot() }),
  createToken: (json: { scopes: Scope[]; bot?: string }) =>
    request<IssuedToken>("POST", "/tokens", { json }),
  revokeToken: (id: string) => request<{ id: string }>("DELETE", `/tokens/${part(id)}`),
  webhook: () => request<WebhookView>("GET", "/webhook", { query: ofBot() }),
  saveWebhook: (json: WebhookChange) =>
    request<WebhookView>("PUT", "/webhook", { query: ofBot(), json }),
  newSecret: () => request<{ secret: string }>("POST", "/webhook/secret", { query: ofBot() }),
  notifications: () =>
    request<Items<NotificationView>>("GET", "/notifications", { query: ofBot() }),
  states: (query: { prefix?: string; cursor?: string | undefined }) =>
    request<Page<StateView>>("GET", "/states", { query: { ...ofBot(), ...query } }),
  timers: (query: { lane?: string; cursor?: string | undefined }) =>
    request<Page<TimerView>>("GET", "/timers", { query: { ...ofBot(), ...query } }),
  fireTimer: (json: TimersToFire) =>
    request<{ fired: number }>("POST", "/timers/fire", { query: ofBot(), json }),
  crons: () => request<Items<CronView>>("GET", "/crons", { query: ofBot() }),
  fireCron: (name: string) =>
    request<{ eventId: string }>("POST", `/crons/${part(name)}/fire`, { query: ofBot(), json: {} }),
  inboxEvent: (id: string, of: string) =>
    request<InboxView>("GET", `/inbox/${part(id)}`, { query: { bot: of } }),
  decideInbox: (id: string, decision: InboxDecision, of: string) =>
    request<InboxView>("POST", `/inbox/${part(id)}/${decision}`, { query: { bot: of }, json: {} }),
  botView: () => request<BotView>("GET", "/bot", { query: ofBot() }),

  faults: () => request<FaultsState>("GET", "/faults"),
  setFaults: (json: FaultsChange) => request<FaultsState>("PUT", "/faults", { json }),
  limits: () => request<LimitsView>("GET", "/limits", { query: ofBot() }),
  setLimits: (json: Partial<LimitSettings>) => request<LimitsView>("PUT", "/limits", { json }),
  storage: () => request<StorageState>("GET", "/storage"),
  setStorage: (json: StorageState) => request<StorageState>("PUT", "/storage", { json }),
  clock: () => request<ClockView>("GET", "/clock"),
  setClock: (json: ClockChange) => request<ClockView>("PUT", "/clock", { json }),

  snapshots: () => request<Items<SnapshotView>>("GET", "/snapshots"),
  takeSnapshot: (name?: string) =>
    request<SnapshotView>("POST", "/snapshots", { json: name === undefined ? {} : { name } }),
  restoreSnapshot: (id: string) =>
    request<PlatformState>("POST", `/snapshots/${part(id)}/restore`, { json: {} }),
  removeSnapshot: (id: string) => request<Items<SnapshotView>>("DELETE", `/snapshots/${part(id)}`),
  snapshotFile: (id: string) => download(`/snapshots/${part(id)}/file`),
  uploadSnapshot: (file: Blob, name: string) =>
    request<SnapshotView>("POST", "/snapshots/file", {
      query: { name },
      bytes: new Blob([file], { type: "application/vnd.sqlite3" }),
    }),
  reset: () => request<PlatformState>("POST", "/reset", { json: {} }),
} as const;
