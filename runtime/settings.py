"""All settings of an installation, read once by each main module from `asos.toml` and `ASOS_…` variables."""

from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource


class SettingsInvalid(Exception):
    """Raised when a setting has no proper value. Its text leaves the value out: it might be a secret."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem


class Settings(BaseSettings):
    """One frozen model; a variable wins over the file, the file over the default."""

    model_config = SettingsConfigDict(
        env_prefix="ASOS_", toml_file="asos.toml", frozen=True, extra="forbid", use_attribute_docstrings=True
    )

    data_dir: Path = Path("~/.local/share/asos").expanduser()
    """Everything this installation keeps: databases, blobs, keys, logs. Readable by its owner only."""

    language: Literal["en", "zh"] = "en"
    """Language of the program's own output; chats are answered in the language that they are written in."""

    temporal_address: str = ""
    """`host:port` of a Temporal server that already runs; empty starts the embedded one."""

    temporal_namespace: str = "default"
    """Namespace of all workflows."""

    temporal_api_key: SecretStr | None = None
    """Key for Temporal Cloud."""

    temporal_tls: bool = False
    """Speak TLS to Temporal; always on with an API key."""

    temporal_port: int = Field(default=7233, ge=1, le=65535)
    """Port of the embedded server on loopback."""

    temporal_ui_port: int = Field(default=8233, ge=1, le=65535)
    """Port of the embedded server's web page on loopback."""

    retention_days: int = Field(default=30, ge=2)
    """How long the embedded server keeps closed workflows."""

    gateway_port: int = Field(default=8420, ge=1, le=65535)
    """Port of the gateway on loopback: health, codec endpoint, webhook."""

    worker_port: int = Field(default=8421, ge=1, le=65535)
    """Port of the worker's health page on loopback."""

    metrics_port: int = Field(default=8422, ge=1, le=65535)
    """Port of the worker's Prometheus page on loopback; the gateway's is one higher."""

    host_id: str = Field(default="local", pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    """Name of this sandbox host; it must stay the same over restarts, and differ between hosts."""

    worker_role: Literal["all", "control", "host"] = "all"
    """`host` only holds sandboxes, for a further machine of an installation that runs elsewhere; `control` holds none
    and does all else."""

    planner: Literal["auto", "rules", "litellm"] = "auto"
    """Who decides the next step; auto takes litellm if a model is named, else rules."""

    model: str = ""
    """A LiteLLM model name, such as `openai/gpt-5`, `ollama/qwen3` or `anthropic/claude-sonnet-5`."""

    model_base_url: str = ""
    """Address of an OpenAI-compatible or Ollama server; empty takes the provider's own."""

    model_api_key: SecretStr | None = None
    """Key for the model's provider; local servers need none."""

    model_timeout_seconds: float = Field(default=100.0, gt=0)
    """How long one model call may take."""

    model_context_tokens: int = Field(default=32_000, ge=1_000)
    """How many tokens of transcript a model call is given."""

    task_budget_usd: float | None = Field(default=1.0, ge=0)
    """What the model may cost in one task before the task pauses and asks."""

    policy_file: Path | None = None
    """The person's policy; None takes `policy.yaml` of the data folder, which is made at the first start."""

    policy_overlays: tuple[Path, ...] = ()
    """Further policy files that may only tighten, as JSON in a variable. `asos.policy.yaml` of the folder that the
    system is started in is one by itself."""

    sandbox_driver: Literal["auto", "docker", "bubblewrap"] = "auto"
    """auto takes docker if an engine answers, else bubblewrap."""

    sandbox_runtime: str = "auto"
    """OCI runtime by name; auto takes runsc (gVisor) if the engine knows it, else runc."""

    sandbox_image: str = "browser"
    """Folder of sandbox_images/ that tasks get; falls back to `base` if it has not been built."""

    docker_host: str = ""
    """Address of the engine; empty takes DOCKER_HOST or the usual socket."""

    sandbox_memory_mb: int = Field(default=2_048, ge=128)
    """Memory of one sandbox, swap included."""

    sandbox_cpus: float = Field(default=2.0, gt=0)
    """Processors of one sandbox."""

    sandbox_processes: int = Field(default=1_024, ge=64)
    """Processes and threads of one sandbox."""

    sandbox_output_mb: int = Field(default=64, ge=1)
    """How much output of one command the sandbox keeps."""

    sandbox_disk_mb: int = Field(default=10_240, ge=16)
    """Home and workspace of one sandbox together."""

    sandbox_wall_seconds: float = Field(default=3_600.0, gt=0)
    """Longest time for one command, whatever time-out it asks for."""

    sandbox_volume_driver: str = ""
    """The engine's driver for the volumes that hold home and workspace; empty takes `local`."""

    sandbox_volume_options: dict[str, str] = Field(default_factory=dict)
    """Options of that driver, as JSON in a variable; `{volume}` stands for the name of each volume. With them the
    files of sandboxes can lie on an encrypted file system, or on one with quotas."""

    max_sandboxes: int = Field(default=100, ge=1)
    """How many sandboxes this host holds at once; those asleep take no place. Further ones wait in a queue."""

    max_sandboxes_per_user: int = Field(default=20, ge=1)
    """How many of them one person may have at once."""

    warm_sandboxes: int = Field(default=1, ge=0)
    """How many sandboxes are kept ready for the next task; 0 keeps none."""

    sandbox_idle_seconds: float = Field(default=900.0, gt=0)
    """After so long without need a sandbox is saved and put to sleep."""

    sandbox_retention_days: float = Field(default=7.0, gt=0)
    """After so long without need only the project files of a sandbox are kept."""

    sandbox_sweep_seconds: int = Field(default=300, ge=5)
    """How often this host is swept for what nobody owns."""

    snapshot_store: str = ""
    """Where snapshots are kept: a folder, or `s3://bucket/prefix`; empty takes `snapshots` of the data folder."""

    s3_endpoint: str = ""
    """Address of an S3-compatible server; empty takes that of AWS."""

    s3_region: str = "us-east-1"
    """Region of the bucket."""

    s3_access_key: SecretStr | None = None
    """Access key id for the bucket; empty takes what the surroundings give, as the AWS tools do."""

    s3_secret_key: SecretStr | None = None
    """Secret of that key."""

    host_api_url: str = ""
    """Where the command line reaches files and terminals of this host; empty takes loopback and `worker_port`."""

    egress_blocklist: Path | None = None
    """File of domains that no sandbox may reach, one a line or in the format of a hosts file; read again when it
    changes."""

    telegram_token: SecretStr | None = None
    """Token of the person's bot from @BotFather; with it the Telegram channel starts."""

    telegram_base_url: str = "https://api.telegram.org/bot"
    """Address of the Bot API, for a local server."""

    telegram_base_file_url: str = "https://api.telegram.org/file/bot"
    """Address of the Bot API's files."""

    telegram_webhook_url: str = ""
    """Public https address that Telegram should call; empty polls."""

    audit_head: Path | None = None
    """File for the signed head of the audit log, with the public key beside it; best on another disk. None takes
    `audit-head/head.json` of the data folder."""

    vault_store: Literal["sqlite", "openbao"] = "sqlite"
    """Where sealed secrets lie: a file of the data folder, or the KV engine of an OpenBao or HashiCorp Vault."""

    vault_lock: Literal["passphrase", "keyring", "file", "transit"] = "passphrase"
    """What opens a vault that is made anew: a passphrase, the OS keyring, `vault_key_file`, or OpenBao's transit."""

    vault_key_file: Path | None = None
    """File with the vault's key for servers, readable by its owner only; made with the vault if it is not there."""

    vault_session_folder: Path = Path("/dev/shm")  # noqa: S108  a file system in memory, and a folder of our own in it
    """Folder in memory that holds the key between `asos identity unlock` and `lock`."""

    vault_head: Path | None = None
    """File that says which state of the vault is the newest; best on another disk. None takes
    `identity-head/head.json` of the data folder."""

    vault_address: str = ""
    """Address of the OpenBao or HashiCorp Vault server, for the store or for transit."""

    vault_token: SecretStr | None = None
    """Token for it; it is renewed while the program runs."""

    vault_role_id: str = ""
    """AppRole for it, in place of a token."""

    vault_secret_id: SecretStr | None = None
    """Secret of that AppRole."""

    vault_namespace: str = ""
    """Namespace on the server, where it has them."""

    vault_ca_file: Path | None = None
    """Certificate authority of the server; None takes the usual ones."""

    vault_mount: str = "secret"
    """Where its KV engine (version 2) is mounted."""

    vault_path: str = Field(default="asos/vault", pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$")
    """Path of this vault below it."""

    vault_transit_mount: str = "transit"
    """Where its transit engine is mounted."""

    vault_transit_key: str = Field(default="asos", pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")
    """The transit engine's key that wraps the vault's."""

    otlp_endpoint: str = ""
    """OpenTelemetry collector for traces, such as `http://localhost:4318`; empty sends none."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least level that is written to the logs."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        """The same folder for every process, wherever each was started."""
        return folder.expanduser().absolute()

    @field_validator("policy_overlays")
    @classmethod
    def _all_absolute(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(path.expanduser().absolute() for path in paths)

    @field_validator("worker_role")
    @classmethod
    def _has_a_server(cls, role: str, info: ValidationInfo) -> str:
        if role == "host" and not info.data.get("temporal_address"):
            raise ValueError("`host` needs ASOS_TEMPORAL_ADDRESS, the server of the installation that it belongs to")
        return role

    @property
    def temporal_target(self) -> str:
        """`host:port` that clients connect to."""
        return self.temporal_address or f"127.0.0.1:{self.temporal_port}"

    @property
    def planner_name(self) -> Literal["rules", "litellm"]:
        """The planner after resolving `auto`."""
        if self.planner == "auto":
            return "litellm" if self.model else "rules"
        return self.planner


def read_settings() -> Settings:
    """For main modules: the settings of this process. Raises: SettingsInvalid."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise SettingsInvalid(f"ASOS_{'_'.join(map(str, first['loc'])).upper()}", first["msg"]) from None
    except TOMLDecodeError as error:
        raise SettingsInvalid("asos.toml", str(error)) from error
