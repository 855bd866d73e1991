"""Chat models."""

from graphroute.models.llm.base import ChatModel, Message, Reply

__all__ = ["ChatModel", "Message", "Reply"]
