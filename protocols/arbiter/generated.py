"""What stands in Arbiter's files.

Written by docs/generate.py from `schemas/`: change those, then `make generate`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from moot.protocols.arbiter.record import Record

SchemaVersion = Literal["1.0.0"]


Name = Annotated[str, Field(min_length=1)]


Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


Count = Annotated[int, Field(ge=0)]


Positive = Annotated[int, Field(ge=1)]


Share = Annotated[float, Field(ge=0.0, le=1.0)]


NotNegative = Annotated[float, Field(ge=0.0)]


Instant = Annotated[
    str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$")
]
"""A time, UTC."""


Payload = dict[str, Any]
"""What was sent to a model, or came back, as it was."""


Float32Base64 = str
"""Little-endian float32, shape (dimensions,), in base64."""


class RolePrompt(Record):
    """What a role of a debate is told."""

    id: Name
    sha256: Sha256
    text: str


class RolePrompts(Record):
    """What the roles of a debate are told."""

    proposer_system: RolePrompt
    critic_system: RolePrompt
    proposer_final_system: RolePrompt


CatalogStatus = Literal["known", "unknown_to_catalog"]


CountRule = Literal["k_eligible", "k_attempted"]


StopMode = Literal["advisor", "enforcer"]


EmbedStrategy = Literal["outcome_only", "outcome_or_raw_assistant"]


CentroidRule = Literal["fixed_leader", "incremental_mean"]


Seed = Count | Name


class Range(Record):
    """Bounds between which each trial draws a number."""

    min: float
    max: float


class WholeRange(Record):
    """Bounds between which each trial draws a whole number."""

    min: int
    max: int


Decoded = float | Range


DecodedWhole = int | WholeRange


class RunSettings(Record):
    """The run's id, given when it starts, and the seed that decides its plan."""

    run_id: Name
    seed: Seed


class Question(Record):
    """What every trial asks."""

    text: Name
    question_id: str | None = None
    source: str | None = None


class ModelChoice(Record):
    """A model, drawn in proportion to its weight."""

    model: Name
    weight: NotNegative
    """Its share of the draws is this over the sum of the weights."""
    catalog_status: CatalogStatus | None = None


class PersonaChoice(Record):
    """A persona, drawn in proportion to its weight."""

    persona: Name
    weight: NotNegative
    """Its share of the draws is this over the sum of the weights."""
    sha256: Sha256 | None = None
    """Of its file in the prompt bank."""
    text: str | None = None


class ProtocolChoice(Record):
    """A template of how to answer, drawn in proportion to its weight."""

    protocol: Name
    weight: NotNegative
    """Its share of the draws is this over the sum of the weights."""
    sha256: Sha256 | None = None
    """Of its file in the prompt bank."""
    text: str | None = None


class InstrumentChoice(Record):
    """Further words that every trial is told."""

    instrument: Name
    sha256: Sha256 | None = None
    """Of its file in the prompt bank."""
    text: str | None = None


class Decode(Record):
    """How answers are sampled; a range is drawn anew for each trial."""

    temperature: Decoded | None = None
    top_p: Decoded | None = None
    max_tokens: DecodedWhole | None = None
    presence_penalty: Decoded | None = None
    frequency_penalty: Decoded | None = None


class Sampling(Record):
    """What trials differ in."""

    models: Annotated[tuple[ModelChoice, ...], Field(min_length=1)]
    personas: Annotated[tuple[PersonaChoice, ...], Field(min_length=1)]
    protocols: Annotated[tuple[ProtocolChoice, ...], Field(min_length=1)]
    instruments: tuple[InstrumentChoice, ...] | None = None
    decode: Decode | None = None


class Timeouts(Record):
    """How long a call and a trial may take."""

    per_call_timeout_ms: Positive | None = None
    per_call_max_retries: Count | None = None
    total_trial_timeout_ms: Positive | None = None


class ContractChoice(Record):
    """The decision contract that answers are held to."""

    id: Name


class RetryPolicy(Record):
    """How often a call that failed is sent again, and after which pause."""

    max_retries: Count
    backoff_ms: Count | None = None


class StopPolicy(Record):
    """When answers count as settled."""

    novelty_epsilon: Share | None = None
    """A batch whose novelty rate is at most this brought nothing new."""
    similarity_threshold: Share | None = None
    """Nor did one whose answers are, on average, at least this near to earlier ones."""
    patience: Positive | None = None
    """So many of them in a row, and answers count as settled."""


class Execution(Record):
    """How many trials, how many at once, and when to stop."""

    k_max: Positive
    """Trials."""
    k_min: Count
    """Trials before answers may count as settled."""
    k_min_count_rule: CountRule
    """Recorded; eligible trials are counted whatever it says."""
    batch_size: Positive
    workers: Positive
    """Trials at the same time."""
    retry_policy: RetryPolicy
    timeout_ms: Positive | None = None
    """Read by nothing."""
    stop_mode: StopMode
    stop_policy: StopPolicy | None = None


class Clustering(Record):
    """How answers are grouped while they come in."""

    enabled: bool
    algorithm: Literal["online_leader"]
    tau: Share
    """An answer less similar than this to every cluster opens one."""
    centroid_update_rule: CentroidRule
    cluster_limit: Positive
    stop_mode: Literal["disabled", "advisory", "enforced"]


class Measurement(Record):
    """How answers are measured."""

    embedding_model: Name
    embedding_max_chars: Positive | None = None
    """UTF-16 code units of a text that are embedded at most."""
    embed_text_strategy: EmbedStrategy
    novelty_threshold: Share
    """An answer whose nearest before it is less similar than this is new."""
    clustering: Clustering


class Output(Record):
    """Where runs go when the command names no other folder."""

    runs_dir: str


class ContractEntry(Record):
    """A decision contract: which file it is, and the SHA-256 of that file."""

    id: Name
    path: Name
    sha256: Sha256
    description: str | None = None


class ContractManifest(Record):
    """contracts/manifest.json."""

    schema_version: SchemaVersion
    contracts: tuple[ContractEntry, ...]


EmbedSource = Literal["decision", "rationale", "raw_content"]


class ContractPreset(Record):
    """A decision contract: the form of a decision, and which part of it is embedded."""

    id: Name
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    """JSON Schema of a decision."""
    embed_text_source: EmbedSource
    rationale_max_chars: Positive | None = None
    """UTF-16 code units; a longer rationale is cut."""
    description: str | None = None


class Stop(Record):
    """What a batch says about stopping."""

    mode: StopMode
    would_stop: bool
    """As many batches in a row as the policy asks for brought nothing new."""
    should_stop: bool
    """So the run ends now: it would stop, and the mode is enforcer."""
    stop_reason: Literal["converged"] | None = None


class EmbeddingOrigin(Record):
    """How embeddings come about, wherever they are."""

    schema_version: SchemaVersion
    status: Literal["not_generated", "arrow_generated", "jsonl_fallback"]
    intended_primary_format: Literal["arrow_ipc_file"]
    dtype: Literal["float32"]
    requested_embedding_model: Name
    actual_embedding_model: str | None
    generation_ids: tuple[str, ...] | None = None
    embed_text_strategy: EmbedStrategy
    normalization: Literal["newline_to_lf+trim_trailing"]


class NotGenerated(EmbeddingOrigin):
    """There are no embeddings."""

    status: Literal["not_generated"]
    reason: Literal["resolve_only", "no_successful_embeddings"]
    primary_format: Literal["none"]
    note: str


class EmbeddingCounts(Record):
    """How many trials were embedded."""

    total_trials: Count
    successful_embeddings: Count
    failed_embeddings: Count
    skipped_embeddings: Count


class ArrowGenerated(EmbeddingOrigin):
    """The embeddings stand in embeddings.arrow."""

    status: Literal["arrow_generated"]
    primary_format: Literal["arrow"]
    dimensions: Positive
    counts: EmbeddingCounts
    debug_jsonl_present: bool


class JsonlFallback(EmbeddingOrigin):
    """The embeddings could not be written as Arrow, and stand in debug/embeddings.jsonl."""

    status: Literal["jsonl_fallback"]
    primary_format: Literal["jsonl"]
    arrow_error: str
    jsonl_encoding: Literal["float32le_base64"]


Provenance = Annotated[NotGenerated | ArrowGenerated | JsonlFallback, Field(discriminator="status")]
"""Where the embeddings of a run are and how they came about; embeddings.provenance.json."""


EmbeddingStatus = Literal["success", "failed", "skipped"]


SkipReason = Literal["empty_embed_text", "trial_not_success", "contract_failure"]


class EmbeddingLine(Record):
    """A line of debug/embeddings.jsonl."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"embedding_status": {"const": "success"}}},
            "then": {
                "required": ["dimensions"],
                "properties": {"vector_b64": {"type": "string"}, "error": False, "skip_reason": False},
            },
            "else": {
                "if": {"properties": {"embedding_status": {"const": "failed"}}},
                "then": {
                    "required": ["error"],
                    "properties": {"vector_b64": {"type": "null"}, "dimensions": False, "skip_reason": False},
                },
                "else": {
                    "if": {"properties": {"embedding_status": {"const": "skipped"}}},
                    "then": {
                        "required": ["skip_reason"],
                        "properties": {"vector_b64": {"type": "null"}, "dimensions": False, "error": False},
                    },
                },
            },
        },
    )
    trial_id: Count
    embedding_status: EmbeddingStatus
    vector_b64: Float32Base64 | None
    dtype: Literal["float32"]
    encoding: Literal["float32le_base64"]
    dimensions: Positive | None = None
    error: Name | None = None
    skip_reason: SkipReason | None = None
    embed_text_sha256: Sha256 | None = None
    """Of what was to be embedded, before redaction; absent when that is nothing."""
    embed_text_truncated: bool
    embed_text_original_chars: Count
    """Its length before the cut, in UTF-16 code units."""
    embed_text_final_chars: Count
    """Its length after it."""
    truncation_reason: Literal["max_chars_exceeded"] | None


StopReason = Literal["completed", "k_max_reached", "converged", "user_interrupt", "error"]


class Timestamps(Record):
    """When a run began and ended, UTC."""

    started_at: Instant
    completed_at: Instant


class Artifact(Record):
    """A file of a run."""

    path: Name
    record_count: Count | None = None
    note: str | None = None


class Artifacts(Record):
    """The files of a run."""

    entries: tuple[Artifact, ...]


class Policy(Record):
    """What a run allows. A strict one refuses free and aliased models unless allowed; others warn."""

    strict: bool
    allow_free: bool
    allow_aliased: bool
    contract_failure_policy: Literal["warn", "exclude", "fail"]


CatalogVersion = Annotated[str, Field(pattern="^[0-9]{4}(\\.[0-9]{2}\\.[0-9]{2}|-[0-9]{2}-[0-9]{2})$")]


class CatalogEntry(Record):
    """A model; an aliased one is a name whose model changes in time."""

    slug: Name
    display_name: Name
    provider: Name
    context_window: Positive | None
    """In tokens."""
    is_aliased: bool | None
    tier: Literal["default", "extended", "free"]
    notes: str | None = None


class ModelCatalog(Record):
    """catalog.json."""

    schema_version: SchemaVersion
    catalog_version: CatalogVersion
    models: tuple[CatalogEntry, ...]


MootProtocol = Literal["moot:debate", "moot:arena", "moot:panel"]
"""A protocol of Moot's, held whole as one trial: a debate, a run of the Arena, a review panel."""


MootSeat = Literal[
    "advocate",
    "critic",
    "judge",
    "planner",
    "reviewer",
    "finalizer",
    "eic",
    "methodology",
    "domain",
    "perspective",
    "da",
    "synthesizer",
]
"""Who speaks in a protocol of Moot's."""


class ArenaChoice(Record):
    """How a run of the Arena is held."""

    max_rounds: Annotated[int | None, Field(ge=1, le=5)] = None
    """After so many rounds the Finalizer gives what there is."""


class ResolvedArena(ArenaChoice):
    """How a run of the Arena is held."""

    max_rounds: Annotated[int, Field(ge=1, le=5)]
    """After so many rounds the Finalizer gives what there is."""


class PanelChoice(Record):
    """How a review panel judges the question's text, which is the work."""

    contract: Name | None = None
    """The sprint contract: the name of one that Moot ships, or a file."""
    title: str | None = None
    """What reviewers know of the work at first."""
    field: str | None = None
    """What reviewers know of the work at first."""


class ResolvedPanel(Record):
    """How a review panel judges the question's text, which is the work."""

    contract: Payload
    """The sprint contract, whole."""
    reviewers: Annotated[tuple[MootSeat, ...], Field(min_length=1)]
    """Who reviews, by its mode."""
    title: str
    """What reviewers know of the work at first."""
    field: str
    """What reviewers know of the work at first."""


class Assignment(Record):
    """A line of clusters/online.assignments.jsonl."""

    trial_id: Count
    cluster_id: Count
    similarity: Annotated[float, Field(ge=-1.0, le=1.0)]
    """Cosine to the cluster's centroid when it was assigned; 1 for the answer that opened it."""
    is_exemplar: bool
    """It opened the cluster."""
    forced: bool
    """It was too far from every cluster, and no further one could be opened."""
    batch_number: Count


class ClusterParams(Record):
    """How answers are grouped."""

    tau: Share
    centroid_update_rule: CentroidRule
    ordering_rule: Literal["trial_id_asc"]
    cluster_limit: Positive


class Cluster(Record):
    """A group of answers near each other."""

    cluster_id: Count
    """From 0, in the order of discovery."""
    exemplar_trial_id: Count
    member_count: Positive
    discovered_at_batch: Count
    centroid_vector_b64: Float32Base64


class ClusterTotals(Record):
    """How many answers were grouped."""

    total_assigned: Count
    total_excluded: Count
    """Trials whose answer was not embedded."""
    forced_assignments: Count


class ClusterState(Record):
    """What the clusters became; clusters/online.state.json."""

    schema_version: SchemaVersion
    algorithm: Literal["online_leader"]
    params: ClusterParams
    clusters: tuple[Cluster, ...]
    totals: ClusterTotals


ParseStatus = Literal["success", "fallback", "failed"]


ParserVersion = Literal["mock-v0", "live-v0", "independent-v1", "debate-v1"]


Method = Literal["fenced", "unfenced", "raw"]
"""Where an outcome was found: in a fenced block, between braces, or in no JSON at all."""


Confidence = Literal["low", "medium", "high"]


class ParseError(Record):
    """Why a text has not the form that was asked for."""

    message: Name
    code: Literal["empty_content", "no_json", "contract_mismatch", "no_decision", "ambiguous_decision"]


class ParsedTrial(Record):
    """A line of parsed.jsonl: what a trial decided; what is not known is left out."""

    trial_id: Count
    parse_status: ParseStatus
    extraction_method: Method | None = None
    embed_text_source: EmbedSource | None = None
    confidence: float | Confidence | None = None
    outcome: str | None = None
    """The decision; the raw text where there is no form, or none that holds."""
    rationale: str | None = None
    rationale_truncated: bool | None = None
    raw_assistant_text: str | None = None
    """The model's final text; absent when the trial ended before one."""
    embed_text: Name | None = None
    """What of it is embedded; absent when that is nothing."""
    parser_version: ParserVersion
    parse_error: ParseError | None = None
    trace_summary: str | None = None


PromptKind = Literal["participant_persona", "participant_protocol_template", "instrument_prompt"]


class PromptEntry(Record):
    """A prompt: which file it is, and the SHA-256 of that file."""

    id: Name
    type: PromptKind
    path: Name
    sha256: Sha256
    description: str | None = None


class PromptManifest(Record):
    """prompts/manifest.json."""

    schema_version: SchemaVersion
    prompts: tuple[PromptEntry, ...]


class DrawnDecode(Record):
    """How the answers of a trial are sampled."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class AssignedConfig(Record):
    """What a trial asks; a debate_v1 names its proposer's persona and itself."""

    model: Name
    persona: Name | None
    protocol: Name | None
    """The template of how to answer."""
    decode: DrawnDecode | None = None


class Role(Record):
    """Who speaks in a role of a debate."""

    model_slug: Name
    persona_id: Name | None
    decode: DrawnDecode | None = None


class Roles(Record):
    """Who speaks in a debate."""

    proposer: Role
    critic: Role


Speaker = Literal["proposer", "critic"] | MootSeat


class Attempt(Record):
    """When a call or a trial was made, and how often it was sent again."""

    started_at: Instant
    completed_at: Instant
    latency_ms: Count
    retry_count: Count


class TrialError(Record):
    """What went wrong."""

    model_config = ConfigDict(
        json_schema_extra={"x-nullable": ["code"]},
    )
    message: str
    code: str | None = None
    """Absent where there is none; null in runs of earlier versions."""
    retryable: bool


class Usage(Record):
    """Tokens that a reply says it took, and its price in US dollars where it names one."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    cost: NotNegative | None = None


class Call(Record):
    """A call of a debate."""

    call_index: Count
    turn: Count
    role: Speaker
    model_requested: Name
    model_actual: str | None
    request_payload: Payload
    response_payload: Payload | None
    usage: Usage | None = None
    attempt: Attempt
    error_message: str | None


class Turn(Record):
    """What was said in a turn of a debate."""

    turn: Count
    role: Speaker
    content: str


class Aggregates(Record):
    """What stands for a run: what its last batch said, not means over it; aggregates.json."""

    schema_version: SchemaVersion
    k_attempted: Count
    k_eligible: Count
    novelty_rate: Share | None
    mean_max_sim_to_prior: Share | None
    cluster_count: Count | None
    entropy: NotNegative | None
    incomplete: bool


ShareOfTrials = Share | None
"""Of the trials counted; null without any."""


class OutcomeShare(Record):
    """How often trials ended in one way, and between which bounds its true share lies."""

    count: Count
    share: ShareOfTrials
    low: Share
    """Lower bound."""
    high: Share
    """Upper bound."""


class LabelShare(Record):
    """How often a label was decided on."""

    label: Name
    count: Count
    share: ShareOfTrials
    low: Share
    """Lower bound."""
    high: Share
    """Upper bound."""


class CertifiedMode(Record):
    """What trials end in more often than in anything else."""

    label: Name | None
    """Null when that is no decision."""
    at_trial: Positive
    """How many trials had been counted when it first was certain, at the end of a batch."""


class Certificate(Record):
    """What can be said of a run's labels, with its rate of error; certificate.json."""

    schema_version: SchemaVersion
    run_id: Name
    alpha: Annotated[float, Field(gt=0.0, lt=1.0)]
    """Each statement errs with a chance of at most this."""
    trials: Count
    """How many are counted."""
    not_counted: Count
    """How many ended after one that an interrupt cut short, that one among them."""
    labels: Annotated[tuple[LabelShare, ...], Field(min_length=1)]
    no_decision: OutcomeShare
    mode: CertifiedMode | None
    """Null while it is not certain."""
    shares_method: Literal["beta_binomial_mixture_bonferroni"]
    mode_method: Literal["beta_binomial_mixture_pairwise"]
    assumptions: tuple[Name, ...]


class ResolvedModel(ModelChoice):
    """A model, and whether the catalog knows it."""

    catalog_status: CatalogStatus


class ResolvedPersona(PersonaChoice):
    """A persona and its words."""

    sha256: Sha256
    """Of its file in the prompt bank."""
    text: str


class ResolvedTemplate(ProtocolChoice):
    """A template of how to answer, and its words."""

    sha256: Sha256
    """Of its file in the prompt bank."""
    text: str


class ResolvedInstrument(InstrumentChoice):
    """Further words that every trial is told."""

    sha256: Sha256
    """Of its file in the prompt bank."""
    text: str


class ResolvedSampling(Sampling):
    """What trials differ in."""

    models: Annotated[tuple[ResolvedModel, ...], Field(min_length=1)]
    personas: Annotated[tuple[ResolvedPersona, ...], Field(min_length=1)]
    protocols: Annotated[tuple[ResolvedTemplate, ...], Field(min_length=1)]
    instruments: tuple[ResolvedInstrument, ...] | None = None


class ResolvedTimeouts(Timeouts):
    """How long a call and a trial may take."""

    per_call_timeout_ms: Positive
    per_call_max_retries: Count
    total_trial_timeout_ms: Positive


class ResolvedContract(Record):
    """The decision contract, whole."""

    id: Name
    sha256: Sha256
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    """JSON Schema of a decision."""
    embed_text_source: EmbedSource
    rationale_max_chars: Positive | None = None
    """UTF-16 code units; a longer rationale is cut."""


class ResolvedRetryPolicy(RetryPolicy):
    """How often a call that failed is sent again, and after which pause."""

    backoff_ms: Count


class ResolvedStopPolicy(StopPolicy):
    """When answers count as settled."""

    novelty_epsilon: Share
    """A batch whose novelty rate is at most this brought nothing new."""
    similarity_threshold: Share
    """Nor did one whose answers are, on average, at least this near to earlier ones."""
    patience: Positive
    """So many of them in a row, and answers count as settled."""


class ResolvedExecution(Execution):
    """How many trials, how many at once, and when to stop."""

    retry_policy: ResolvedRetryPolicy
    stop_policy: ResolvedStopPolicy


class ResolvedMeasurement(Measurement):
    """How answers are measured."""

    embedding_max_chars: Positive
    """UTF-16 code units of a text that are embedded at most."""


ProtocolType = Literal["independent", "debate_v1"] | MootProtocol


class Protocol(Record):
    """How one trial goes: one call, proposer, critic and proposer again, or a protocol of Moot's."""

    type: ProtocolType
    timeouts: Timeouts | None = None
    decision_contract: ContractChoice | None = None
    arena: ArenaChoice | None = None
    panel: PanelChoice | None = None


class Configuration(Record):
    """A run as a user asks for it; arbiter.config.json."""

    schema_version: SchemaVersion
    readme: Annotated[Any | None, Field(alias="_readme")] = None
    """Notes of the user; nothing reads them."""
    template_id: str | None = None
    display_name: str | None = None
    description: str | None = None
    run: RunSettings
    question: Question
    sampling: Sampling
    protocol: Protocol
    execution: Execution
    measurement: Measurement
    output: Output


class ConvergenceRow(Record):
    """A line of convergence_trace.jsonl; counts are of the run so far."""

    batch_number: Count
    """From 0."""
    k_attempted: Count
    k_eligible: Count
    """Trials whose answer was embedded."""
    has_eligible_in_batch: bool
    novelty_rate: Share | None
    """Share of the batch's eligible trials nearer to nothing before them than the threshold."""
    mean_max_sim_to_prior: Share | None
    """Mean cosine of each of them to the nearest before it, negatives as 0."""
    recorded_at: Instant
    """When the batch was measured."""
    stop: Stop


class ClusteredRow(ConvergenceRow):
    """A line of convergence_trace.jsonl of a run that clusters its answers."""

    cluster_count: Count
    new_clusters_this_batch: Count
    largest_cluster_share: Share
    cluster_distribution: tuple[Positive, ...]
    """Answers in each cluster so far, by cluster_id."""
    js_divergence: Share | None
    """How far the batch moved them, in bits; null while no answer was assigned before it."""
    entropy: NotNegative
    """Of the distribution, in nats."""
    effective_cluster_count: NotNegative
    """exp(entropy); 0 without answers."""
    singleton_count: Count
    """Clusters of one answer."""
    cluster_limit_hit: bool
    """No further cluster may be opened."""
    forced_assignments_this_batch: Count
    forced_assignments_cumulative: Count


class RecordedStopPolicy(ResolvedStopPolicy):
    """When answers count as settled, and from how many on."""

    k_min_eligible: Count


class Hashes(Record):
    """What a run was made from."""

    config_sha256: Sha256
    plan_sha256: Sha256
    model_catalog_version: CatalogVersion
    model_catalog_sha256: Sha256
    prompt_manifest_sha256: Sha256


class RunUsage(Record):
    """What a run used, as far as replies told it."""

    totals: Usage
    by_model: dict[str, Usage]
    """By the model that answered, or that was asked where a reply named none."""


class Manifest(Record):
    """What a run was, how it ended, and which files it left; manifest.json."""

    schema_version: SchemaVersion
    arbiter_version: Name
    run_id: Name
    started_at: Instant
    completed_at: Instant
    timestamps: Timestamps
    stop_reason: StopReason
    stopping_mode: Literal["advisor", "enforcer", "resolve_only"]
    incomplete: bool
    k_attempted: Count
    k_eligible: Count
    k_planned: Count
    k_min: Count
    k_min_count_rule: CountRule
    stop_policy: RecordedStopPolicy
    hash_algorithm: Literal["sha256"]
    config_sha256: Sha256
    plan_sha256: Sha256
    model_catalog_version: CatalogVersion
    model_catalog_sha256: Sha256
    prompt_manifest_sha256: Sha256
    provenance: Hashes
    artifacts: Artifacts
    policy: Policy
    usage: RunUsage | None = None
    notes: str | None = None
    git_sha: str | None = None


class DebateSeats(Record):
    """Who fills the seats of a debate of Moot's."""

    advocate: Role
    critic: Role
    judge: Role


class ArenaSeats(Record):
    """Who fills the seats of a run of the Arena."""

    planner: Role
    reviewer: Role
    finalizer: Role


class PanelSeats(Record):
    """Who fills the seats of a review panel: the reviewers of its mode, and the Synthesizer."""

    eic: Role
    methodology: Role
    domain: Role | None = None
    perspective: Role | None = None
    da: Role | None = None
    synthesizer: Role


Assignments = Roles | DebateSeats | ArenaSeats | PanelSeats


class PlannedTrial(Record):
    """A line of trial_plan.jsonl."""

    trial_id: Count
    protocol: ProtocolType
    assigned_config: AssignedConfig
    role_assignments: Assignments | None = None
    """Of a debate."""


class Trial(Record):
    """A line of trials.jsonl; a debate tells its roles, calls and turns."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"protocol": {"const": "debate_v1"}}},
            "then": {"required": ["role_assignments", "calls", "transcript"]},
            "else": {
                "if": {"properties": {"protocol": {"const": "moot:debate"}}},
                "then": {"required": ["role_assignments", "calls", "transcript"]},
                "else": {
                    "if": {"properties": {"protocol": {"const": "moot:arena"}}},
                    "then": {"required": ["role_assignments", "calls", "transcript"]},
                    "else": {
                        "if": {"properties": {"protocol": {"const": "moot:panel"}}},
                        "then": {"required": ["role_assignments", "calls", "transcript"]},
                    },
                },
            },
        },
    )
    trial_id: Count
    requested_model_slug: Name
    actual_model: str | None
    """The model that the reply names."""
    protocol: ProtocolType
    status: Literal["success", "error", "model_unavailable", "timeout_exhausted"]
    assigned_config: AssignedConfig
    attempt: Attempt | None = None
    error: TrialError | None = None
    error_code: str | None
    raw_assistant_text: str | None = None
    request_payload: Payload | None = None
    response_payload: Payload | None = None
    usage: Usage | None = None
    metadata: Payload | None = None
    role_assignments: Assignments | None = None
    calls: tuple[Call, ...] | None = None
    transcript: tuple[Turn, ...] | None = None


class ResolvedProtocol(Record):
    """How one trial goes."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"type": {"const": "debate_v1"}}},
            "then": {"required": ["prompts"]},
            "else": {
                "if": {"properties": {"type": {"const": "moot:debate"}}},
                "then": {"required": ["decision_contract"]},
                "else": {
                    "if": {"properties": {"type": {"const": "moot:arena"}}},
                    "then": {"required": ["decision_contract", "arena"]},
                    "else": {
                        "if": {"properties": {"type": {"const": "moot:panel"}}},
                        "then": {"required": ["decision_contract", "panel"]},
                    },
                },
            },
        },
    )
    type: ProtocolType
    timeouts: ResolvedTimeouts
    decision_contract: ResolvedContract | None = None
    prompts: RolePrompts | None = None
    arena: ResolvedArena | None = None
    panel: ResolvedPanel | None = None


class ResolvedConfiguration(Record):
    """A run as it is carried out; config.resolved.json."""

    schema_version: SchemaVersion
    readme: Annotated[Any | None, Field(alias="_readme")] = None
    """Notes of the user; nothing reads them."""
    template_id: str | None = None
    display_name: str | None = None
    description: str | None = None
    run: RunSettings
    question: Question
    sampling: ResolvedSampling
    protocol: ResolvedProtocol
    execution: ResolvedExecution
    measurement: ResolvedMeasurement
    output: Output
