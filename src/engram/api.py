"""The library: one class whose methods are the operations."""

from __future__ import annotations

import sys

from engram.capture import check, ingest, storage
from engram.capture.digests import cost, daily_activity, digest, episodes, transcript
from engram.dream import operations
from engram.hub import Hub
from engram.importers import engram as import_engram
from engram.importers import lyra as import_lyra
from engram.importers import memoria, session_memory, web_exports
from engram.index import maintenance
from engram.install import doctor, hook_times
from engram.install import init as wiring
from engram.models import status
from engram.patterns import detect as detecting
from engram.patterns.rules import catalog, distribute, export_catalog, import_catalog, measure, review
from engram.search import context as injected
from engram.search import pushed
from engram.search import recall as question
from engram.sessions import lifecycle, locks, messages
from engram.sessions import sitrep as picture
from engram.sessions import stats as overview
from engram.sessions import world_state as world
from engram.settings import is_url, load_settings
from engram.summaries import document_history, eras, exchanges, gist, narrative, profile, self_state, tier_documents
from engram.summaries.playbook import playbook
from engram.wiki import ask as asking
from engram.wiki import delete_session as forgetting
from engram.wiki import edit, flush_failures, graph, mentions, page, page_list
from engram.wiki import flush as flushing
from engram.wiki import get as getting
from engram.wiki import lint as linting
from engram.wiki.compiler import compile as compiling

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from pathlib import Path
    from typing import Any


class Engram(Hub):
    """One memory for every coding agent: an open store with every operation as a method."""

    def __init__(self, db_path: str | os.PathLike[str] | None = None, **choices: Any) -> None:
        chosen = vars(sys.modules["engram"]).get("DB_PATH") if db_path is None and not choices else None
        super().__init__(db_path or chosen, **choices)

    @property
    def db_path(self) -> Path | None:
        """Return the path of the store; None if the store is on a server."""
        return _get_store_file(self.settings.store)

    register = lifecycle.register
    heartbeat = lifecycle.heartbeat
    log = lifecycle.log
    complete = lifecycle.complete
    get_session = lifecycle.get_session
    get_active_sessions = lifecycle.get_active_sessions
    get_recent_sessions = lifecycle.get_recent_sessions
    get_session_logs = lifecycle.get_session_logs

    get_world_state = world.get_world_state
    set_world_state = world.set_world_state
    world_state = world.world_state
    list_world_states = world.list_world_states
    world_history = world.world_history
    world_diff = world.world_diff

    lock_resource = locks.lock_resource
    lock_resources = locks.lock_resources
    release_resource = locks.release_resource
    release_all = locks.release_all
    check_locks = locks.check_locks
    list_locks = locks.list_locks
    check_edit = locks.check_edit

    send = messages.send
    inbox = messages.inbox
    list_messages = messages.list_messages

    situation = picture.situation
    get_situation_report = picture.get_situation_report
    stats = overview.stats
    activity = overview.activity
    list_projects = overview.list_projects
    import_engram = import_engram.import_engram

    ingest = ingest.ingest
    list_sessions = transcript.list_sessions
    get_capture = transcript.get_capture
    get_children = transcript.get_children
    get_events = transcript.get_events
    get_outline = transcript.get_outline
    locate_event = transcript.locate_event
    get_digest = digest.get_digest
    rebuild_digests = digest.rebuild_digests
    set_outcome = digest.set_outcome
    list_episodes = episodes.list_episodes
    list_decisions = episodes.list_decisions
    list_open_items = episodes.list_open_items
    get_playbook = playbook.get_playbook
    cost = cost.cost
    count_days = daily_activity.count_days
    model_status = status.model_status
    recall = question.recall
    recall_summaries = question.recall_summaries
    recall_eras = question.recall_eras
    get = getting.get
    context = injected.context
    list_pushed = pushed.list_pushed
    judge_pushed = pushed.judge_pushed
    index = maintenance.index
    remember = exchanges.remember
    add_exchanges_bulk = exchanges.add_exchanges_bulk
    recent = exchanges.recent
    history = exchanges.history
    ensure_session = exchanges.ensure_session
    delete_session = forgetting.delete_session

    store_summary = gist.store_summary
    get_summary = gist.get_summary
    unsummarized_count = gist.unsummarized_count
    list_summaries = gist.list_summaries
    backlog_stats = gist.backlog_stats
    summarize = gist.summarize
    summaries_by_month = eras.summaries_by_month
    store_era = eras.store_era
    list_eras = eras.list_eras
    list_versions = document_history.list_versions
    get_version = document_history.get_version
    restore_version = document_history.restore_version
    integrate = eras.integrate
    get_profile = profile.get_profile
    set_profile = profile.set_profile
    profile_sessions_covered = profile.profile_sessions_covered
    get_narrative = narrative.get_narrative
    set_narrative = narrative.set_narrative
    get_tier = tier_documents.get_tier
    get_self_state = self_state.get_self_state
    set_self_state = self_state.set_self_state
    import_lyra = import_lyra.import_lyra
    flush = flushing.flush
    list_failures = flush_failures.list_failures
    ask = asking.ask
    compile = compiling.compile
    lint = linting.lint
    list_pages = page_list.list_pages
    get_page = page.get_page
    page_diff = page.page_diff
    edit_page = edit.edit_page
    restore_page = edit.restore_page
    link_graph = graph.link_graph
    dream = operations.dream
    get_drives = operations.get_drives
    foresee_dream = operations.foresee_dream
    dream_log = operations.dream_log
    undo_dream = operations.undo_dream
    get_mentions = mentions.get_mentions
    import_memoria = memoria.import_memoria

    detect = detecting.detect
    import_session_memory = session_memory.import_session_memory

    list_patterns = catalog.list_patterns
    get_pattern = catalog.get_pattern
    approve_pattern = review.approve_pattern
    reject_pattern = review.reject_pattern
    edit_pattern = review.edit_pattern
    retire_pattern = review.retire_pattern
    restore_pattern = review.restore_pattern
    restore_rule = review.restore_rule
    merge_patterns = review.merge_patterns
    recommend_pattern = review.recommend_pattern
    export_catalog = export_catalog.export_catalog
    import_catalog = import_catalog.import_catalog
    distribute = distribute.distribute
    measure = measure.measure

    check = check.check
    get_storage = storage.get_storage
    doctor = doctor.doctor
    hook_times = hook_times.hook_times
    init = wiring.init
    uninit = wiring.uninit
    import_chatgpt = web_exports.import_chatgpt
    import_claude = web_exports.import_claude
    import_grok = web_exports.import_grok

    sitrep = get_situation_report  # name in the Elixir version


SessionRegistry = Engram  # name used by older programs


def default_path() -> Path | None:
    """Return the path of the default store; None if it is on a server."""
    return _get_store_file(load_settings().store)


def _get_store_file(store: str) -> Path | None:
    from pathlib import Path

    return None if is_url(store) else Path(store)


def sitrep() -> str:
    """Return the sitrep of the default store."""
    with Engram() as engram:
        return engram.get_situation_report()


def update_world_state(content: str, session_id: str | None = None) -> None:
    """Replace the global world state of the default store."""
    with Engram() as engram:
        engram.set_world_state(content, session_id)
