"""What to do about a code of an S3 server or of the operating system: one table for all messages and for `doctor`.

A code without a row has no remedy. Its message then is the code with the text of the server or the system.
"""

import errno
import pwd

_GRANT = (
    "check the credentials, and grant s3:GetObject and s3:ListBucket (to writers also s3:PutObject and "
    "s3:DeleteObject); without s3:ListBucket, missing objects are denied too"
)
_UNKNOWN_KEY = "check the credentials: the server does not know this access key"
_EXPIRED = "renew the session token: it has expired; a program that runs reads the new one by itself"
_REGION = "name the bucket's region: AWS_REGION, or `region` in the profile"
_ENDPOINT = "check AWS_ENDPOINT_URL, or `endpoint_url` in the profile, and that this machine reaches the server"
_SLOWER = "the server asks for fewer requests: try again later, or ask its operator for a higher limit"
_FULL_BUCKET = "the bucket or the account is full: `cardpress prune --keep N`, or raise the quota"
_NOT_THERE = "this server lacks the request: use one of the servers that the page `Where it runs` names"
_OTHER_DISK = "choose a folder on another disk; the page `Where it runs` says what a disk must be able to do"

# By the code of an S3 server, the name of a botocore error, or the name of an errno.
REMEDIES = {
    **dict.fromkeys(("AccessDenied", "AllAccessDisabled", "403"), _GRANT),
    **dict.fromkeys(("InvalidAccessKeyId", "InvalidClientTokenId", "UnrecognizedClientException"), _UNKNOWN_KEY),
    **dict.fromkeys(("Unauthorized", "AuthFailure", "InvalidSecurity", "401"), "check the credentials"),
    "SignatureDoesNotMatch": (
        "check the credentials: the secret key does not belong to the access key, or a proxy changes requests"
    ),
    **dict.fromkeys(("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"), _EXPIRED),
    "InvalidToken": "check the credentials: the session token does not belong to the access key",
    "RequestTimeTooSkewed": "set the clock of this machine (NTP): it differs too much from the server's",
    **dict.fromkeys(("AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect"), _REGION),
    **dict.fromkeys(("IllegalLocationConstraintException", "301", "307", "NoRegionError"), _REGION),
    **dict.fromkeys(("NoSuchBucket", "InvalidBucketName"), "create it, or correct the name and AWS_ENDPOINT_URL"),
    **dict.fromkeys(("SlowDown", "TooManyRequests", "RequestLimitExceeded", "Throttling", "429", "503"), _SLOWER),
    **dict.fromkeys(("ServiceUnavailable", "InternalError", "500"), "try again; the server's own log says more"),
    **dict.fromkeys(("QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "507"), _FULL_BUCKET),
    **dict.fromkeys(("NotImplemented", "MethodNotAllowed", "405", "501"), _NOT_THERE),
    "InvalidObjectState": "restore the object from its archive class, and let no lifecycle rule move a store's objects",
    "EntityTooLarge": "raise the size of requests that the server, or a proxy in between, takes: 5 GB",
    **dict.fromkeys(("BadDigest", "XAmzContentSHA256Mismatch"), "check the proxies in between: bytes have changed"),
    **dict.fromkeys(("KMS.DisabledException", "KMS.NotFoundException"), "check the key that encrypts the bucket"),
    "NoCredentialsError": "name credentials: AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role",
    "PartialCredentialsError": "give both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "ProfileNotFound": "correct AWS_PROFILE, or add the profile to ~/.aws/config",
    **dict.fromkeys(("SSOTokenLoadError", "UnauthorizedSSOTokenError", "TokenRetrievalError"), "`aws sso login`"),
    **dict.fromkeys(
        ("EndpointConnectionError", "ConnectTimeoutError", "ConnectionClosedError", "ReadTimeoutError"), _ENDPOINT
    ),
    "ProxyConnectionError": "check HTTPS_PROXY; NO_PROXY names the hosts that are reached without it",
    "SSLError": "for a server with a private authority, AWS_CA_BUNDLE names the file of its certificate",
    **dict.fromkeys(("ENOSPC", "EDQUOT"), "free some space, or `cardpress prune --keep N`"),
    "EROFS": (
        "choose a folder that can be written to: --store, --lake or --state; for local copies XDG_CACHE_HOME, for "
        "temporary files TMPDIR"
    ),
    **dict.fromkeys(("EACCES", "EPERM"), "run the command as the owner of the folder, or give this user the right"),
    **dict.fromkeys(("EOPNOTSUPP", "ENOTSUP", "ENOSYS", "ENODEV", "ENOLCK"), _OTHER_DISK),
    "EIO": "the disk failed: look into the system's log, then `cardpress verify`",
    **dict.fromkeys(("ESTALE", "ETIMEDOUT", "EHOSTDOWN", "ENOTCONN"), "mount the network disk again"),
    **dict.fromkeys(("EMFILE", "ENFILE"), "raise the number of open files (`ulimit -n`)"),
    "ENOMEM": "give the process more memory, or pass a smaller --memory",
    "ENAMETOOLONG": "choose a folder with a shorter path",
    "ELOOP": "correct the symbolic links of the path",
    "EFBIG": "raise the size of files that the disk or `ulimit -f` allows",
}


def cause_of(error: BaseException | None) -> tuple[str, str]:
    """Return the code of an error or of the first of its causes that has one, and the text that came with it, or ''."""
    response = getattr(error, "response", None)
    if isinstance(response, dict) and response.get("Error"):  # of botocore, which may not be loaded
        code = str(response["Error"].get("Code") or response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
        return code, str(response["Error"].get("Message", ""))
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno, str(error.errno)), error.strerror or ""
    if type(error).__name__ in REMEDIES:
        return type(error).__name__, str(error)
    return cause_of(error.__cause__) if error else ("", "")


def remedy_of(error: BaseException | None) -> str:
    """Return what to do about an error, or '' if its code has no row."""
    return REMEDIES.get(cause_of(error)[0], "")


def with_remedy(message: str, error: BaseException | None) -> str:
    """Return the message of an error with what to do about it, unless it says so already."""
    remedy = remedy_of(error)
    return message if not remedy or remedy in message else f"{message}: {remedy}"


def user_name(uid: int) -> str:
    """Return the name of a user, for messages."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def sudo_line(uid: int) -> str:
    """Return the beginning of a command that runs as a user: not each has a name."""
    name = user_name(uid)
    return f"sudo -u {name} …" if " " not in name else f"sudo -u '#{uid}' …"
