<?php

declare(strict_types=1);

namespace Cardpress;

/** The service refused a call, and says why. */
final class RefusedException extends CardpressException
{
    /** Stable: switch on it. */
    public readonly string $errorCode;
    /** @var list<array{field: string, message: string}> the broken fields */
    public readonly array $details;
    /** @var ?array{needed: int, remaining: int, renews_at: ?string} what a 402 is about; renews_at is when the plan's next credits come */
    public readonly ?array $credits;
    public readonly string $requestId;
    public readonly string $docsUrl;

    /**
     * @param array<string, mixed> $error
     * @param int|null $retryAfter seconds after which it makes sense to try again, where the service says so
     */
    public function __construct(public readonly int $status, array $error, public readonly ?int $retryAfter = null)
    {
        parent::__construct("{$error['code']}: {$error['message']}");
        $this->errorCode = $error['code'];
        $this->details = $error['details'] ?? [];
        $this->credits = $error['credits'] ?? null;
        $this->requestId = $error['request_id'] ?? '';
        $this->docsUrl = $error['docs_url'] ?? '';
    }
}
