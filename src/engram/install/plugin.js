// engram:plugin — written by `engram init`, removed by `engram uninit`.
// OpenCode does not run hook commands; this plugin sends its events to `engram hook`, in the format of Claude Code,
// and returns the answers. If anything fails here, the agent continues without memory.
import { spawn } from "node:child_process"

const COMMAND = ["engram", "hook"]
const PATIENCE = 10000 // milliseconds to wait for an answer
const FAREWELL = 3000 // for the last answer
const LONGEST = 20000 // characters of a tool's output to pass on

const ask = (payload, patience = PATIENCE) =>
  new Promise((done) => {
    let text = ""
    let timer
    const end = (answer) => {
      clearTimeout(timer)
      done(answer)
    }
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        end({})
      }, patience)
      child.on("error", () => end({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (block) => (text += block))
      child.on("close", () => {
        try {
          end(JSON.parse(text))
        } catch {
          end({})
        }
      })
      child.stdin.end(JSON.stringify({ flavor: "opencode", ...payload }))
    } catch {
      end({})
    }
  })

const context = (answer) => {
  const said = answer?.hookSpecificOutput?.additionalContext
  return typeof said === "string" ? said : ""
}

const refusal = (answer) => {
  const said = answer?.hookSpecificOutput
  if (said?.permissionDecision !== "deny") return ""
  return said.permissionDecisionReason || "Engram refused this."
}

export const Engram = async ({ client, directory }) => {
  // A user's and a project's copy of this file may both be loaded; only the first one is active.
  const key = Symbol.for("engram.opencode")
  globalThis[key] ??= new Set()
  if (globalThis[key].has(directory)) return {}
  globalThis[key].add(directory)

  const sessions = new Map() // id -> { id, parent, source, started, brief, news }
  let latest = "" // the session that was active last

  const known = (id, facts = {}) => {
    if (!id) throw new Error("an event without a session")
    if (!sessions.has(id)) sessions.set(id, { id, parent: "", source: "resume", brief: "", news: "", ...facts })
    return sessions.get(id)
  }

  const lineage = async (session) => {
    // For a session older than this plugin, only the server knows whether another session started it.
    if (session.source !== "resume") return
    try {
      const found = await client.session.get({ path: { id: session.id } })
      session.parent = found?.data?.parentID ?? ""
    } catch {}
  }

  const tell = (session, event, facts = {}, patience = PATIENCE) =>
    ask(
      {
        hook_event_name: event,
        session_id: session.parent || session.id,
        ...(session.parent ? { agent_id: session.id } : {}),
        cwd: directory,
        ...facts,
      },
      patience,
    )

  const begin = async (session) => {
    await lineage(session)
    session.brief = context(await tell(session, "SessionStart", { source: session.source }))
  }

  const started = (session) => (session.started ??= begin(session))

  const finish = async (session, reason) => {
    sessions.delete(session.id)
    await session.stopped // report the end last
    if (!session.parent) await tell(session, "SessionEnd", { reason }, FAREWELL)
  }

  const happened = {
    "session.created": ({ info }) => {
      if (info?.id) return started(known(info.id, { parent: info.parentID ?? "", source: "startup" }))
    },
    "session.idle": async ({ sessionID }) => {
      const session = sessions.get(sessionID)
      if (session && !session.parent) await (session.stopped = tell(session, "Stop"))
    },
    "session.deleted": async ({ info }) => {
      const session = sessions.get(info?.id)
      if (session) await finish(session, "deleted")
    },
  }

  // An error in an event handler would reach the agent, so catch everything.
  const quietly = (act) => async (input, output) => {
    try {
      return await act(input, output)
    } catch {}
  }

  return {
    event: quietly(({ event }) => happened[event.type]?.(event.properties ?? {})),

    "chat.message": quietly(async (input, output) => {
      const session = known(input.sessionID)
      latest = session.id
      await started(session)
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = said.map((part) => part.text).join("\n")
      session.news = session.parent ? "" : context(await tell(session, "UserPromptSubmit", { prompt }))
    }),

    "experimental.chat.system.transform": quietly(async (input, output) => {
      const session = sessions.get(input?.sessionID ?? latest)
      if (!session) return
      await session.started
      for (const text of [session.brief, session.news]) if (text) output.system.push(text)
    }),

    "tool.execute.before": async (input, output) => {
      let denied = ""
      await quietly(async () => {
        const facts = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
        denied = refusal(await tell(known(input.sessionID), "PreToolUse", facts))
      })()
      if (denied) throw new Error(denied)
    },

    "tool.execute.after": quietly(async (input, output) => {
      const shown = typeof output.output === "string" ? output.output.slice(0, LONGEST) : ""
      const answer = await tell(known(input.sessionID), "PostToolUse", {
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_response: { output: shown, title: output.title, exit: output.metadata?.exit },
        tool_use_id: input.callID,
      })
      const added = context(answer)
      if (added && typeof output.output === "string") output.output += `\n\n${added}`
    }),

    "experimental.session.compacting": quietly((input) => tell(known(input.sessionID), "PreCompact", { trigger: "auto" })),

    dispose: quietly(async () => {
      globalThis[key].delete(directory)
      await Promise.all([...sessions.values()].map((session) => finish(session, "exit")))
    }),
  }
}
